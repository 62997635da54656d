package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"relabel"
	"relabel/api"
	"relabel/api/client"
	"relabel/atif"
)

// trajectoryExport is `relabel trajectory export`.
type trajectoryExport struct {
	ClientFlags
	api.TrajectoryQuery
	api.ATIFQuery
	Out string `required:"" type:"path" placeholder:"PATH" help:"Where to write: a new folder, in the layout of Harbor's jobs, or a new file that ends in .jsonl, one document per line."`
}

// Run writes the trajectories in ATIF.
func (c *trajectoryExport) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		if err := mustExist(ctx, cl, c.TrajectoryQuery.Run); err != nil {
			return err
		}
		all, err := cl.Trajectories(ctx, client.Values(c.TrajectoryQuery))
		if err != nil {
			return err
		}
		if len(all) == 0 {
			return relabel.Errorf(relabel.CodeNotFound, "no trajectory matches: `relabel trajectory list` takes the same filters")
		}
		sink, err := newATIFSink(c.Out)
		if err != nil {
			return err
		}
		unfinished := 0
		for _, t := range all {
			if !t.State.Terminal() {
				unfinished++
			}
			if err := c.export(ctx, cl, t, sink); err != nil {
				return errors.Join(err, sink.Close())
			}
		}
		say("%d trajectories in %s (%s)", len(all), c.Out, atif.Version)
		if unfinished > 0 {
			say("  %d of them have not ended: they have the turns so far", unfinished)
		}
		return sink.Close()
	})
}

// export fetches a document, checks that it can be read, and writes it.
func (c *trajectoryExport) export(ctx context.Context, cl *Session, t relabel.Trajectory, sink atifSink) error {
	body, err := cl.ATIF(ctx, t.ID, client.Values(c.ATIFQuery))
	if err != nil {
		return err
	}
	doc, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil {
		return relabel.Errorf(relabel.CodeUnavailable, "the document of trajectory %s broke off", t.ID).Because(err)
	}
	record, err := atif.Read(doc)
	if err != nil || record.Own == nil {
		return relabel.Errorf(relabel.CodeInternal, "the document of trajectory %s cannot be read", t.ID).Because(err)
	}
	return sink.Write(doc, record)
}

// atifSink receives documents.
type atifSink interface {
	Write(doc []byte, r atif.Record) error
	Close() error
}

// newATIFSink creates the file or folder at path, which must not exist, so that nothing is mixed or overwritten.
func newATIFSink(path string) (atifSink, error) {
	if _, err := os.Lstat(path); err == nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "%s exists: give a new path", path).On("--out")
	}
	if !strings.HasSuffix(path, ".jsonl") {
		return jobsFolder(path), os.MkdirAll(path, 0o755)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	return jsonLines{f}, err
}

// jsonLines is a file with one document per line.
type jsonLines struct{ file *os.File }

// Write adds a line.
func (l jsonLines) Write(doc []byte, _ atif.Record) error {
	_, err := l.file.Write(append(doc, '\n'))
	return err
}

// Close closes the file.
func (l jsonLines) Close() error { return l.file.Close() }

// jobsFolder is a folder of Harbor's jobs: a job per run, with a trial per trajectory.
type jobsFolder string

// Close does nothing: each document is a file of its own.
func (d jobsFolder) Close() error { return nil }

// Write makes a trial.
func (d jobsFolder) Write(doc []byte, r atif.Record) error {
	t := r.Own.Trajectory
	name := fmt.Sprintf("%s__%s", fileName(t.InstanceID), t.ID)
	job := filepath.Join(string(d), fileName(r.Own.Run.Name))
	trial := filepath.Join(job, name)
	for _, dir := range []string{"agent", "verifier"} { // readers want both
		if err := os.MkdirAll(filepath.Join(trial, dir), 0o755); err != nil {
			return err
		}
	}
	files, err := atif.TrialFiles(r, name)
	if err != nil {
		return err
	}
	files["agent/trajectory.json"] = doc
	files["../config.json"] = atif.JobConfig(filepath.Base(job))
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(trial, name), append(content, '\n'), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// fileName replaces what a file's name should not have, and a leading dot.
func fileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-+@", r) {
			return r
		}
		return '-'
	}, name)
	if strings.HasPrefix(safe, ".") {
		return "-" + safe[1:]
	}
	return safe
}
