package shard

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relabel"
	"relabel/shard/hub"
)

// finish writes the files of the whole export, manifest.json last, and moves the export to
// done.
func (x *Exporter) finish(ctx context.Context, e relabel.Export) (err error) {
	begin := time.Now()
	scratch, err := newScratch(x.Root, e.ID)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, scratch.remove()) }()
	sum, sources, files, err := x.gather(ctx, e, scratch)
	if err != nil {
		return err
	}
	run, err := x.Store.FindRun(ctx, e.Selection.RunID)
	if err != nil {
		return err
	}
	if err := checkRows(run, e.Form, sum); err != nil {
		return err
	}
	m := newManifest(run, e, sum, files)
	if err := checkSecrets(m.Secrets, hub.IsPlace(e.Destination), e.Form.AllowSecrets); err != nil {
		return err
	}
	if e.Mix != nil {
		if m.Mix, err = x.manifestMix(ctx, e, sources); err != nil {
			return err
		}
	}
	if m.Provenance, err = x.provenance(ctx, e, sum, sources); err != nil {
		return err
	}
	names, err := writeWhole(scratch, run, e, sum, m)
	if err != nil {
		return folderError(err)
	}
	at, err := x.storage(e)
	if err != nil {
		return err
	}
	e.Files = nil
	for _, name := range append(names[:len(names):len(names)], manifestName) {
		f, err := describeFile(scratch.path(name), name)
		if err != nil {
			return folderError(err)
		}
		e.Files = append(e.Files, f)
	}
	for _, name := range names {
		if err := at.put(ctx, name, scratch.path(name)); err != nil {
			return err
		}
	}
	// An earlier version may have started this step and written the file under its own name.
	if err := at.drop(ctx, relabel.EarlierExcludedName); err != nil {
		return err
	}
	if err := at.publish(ctx, scratch.path(manifestName)); err != nil {
		return err
	}
	e.Rows, e.Excluded, e.PromptCheck, e.ModelCheck, e.Directory = sum.States, sum.Excluded, m.PromptCheck, m.ModelCheck, at.directory()
	e.Trajectories = &sum.Trajectories.Count
	x.Log.Info().Stringer("export", e.ID).Int("states", e.Rows).Dur("took", time.Since(begin)).Msg("export done")
	if err := x.Store.FinishExport(ctx, e); err != nil {
		return err
	}
	return at.release()
}

// gather adds up the summaries of the parts, of all and by source, and concatenates their lines of excluded
// states. The sum's iterations are those of the export's own run.
func (x *Exporter) gather(ctx context.Context, e relabel.Export, scratch *scratch) (sum summary, sources []sourceSummary, files []relabel.ExportFile, err error) {
	sum, sources = newSummary(), newSourceSummaries(e.Sources())
	excluded, err := os.OpenFile(scratch.path(excludedName), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return sum, nil, nil, folderError(err)
	}
	defer func() { err = errors.Join(err, folderError(errors.Join(excluded.Sync(), excluded.Close()))) }()
	for part, err := range x.Store.ExportParts(ctx, e.ID) {
		if err == nil {
			err = sum.merge(part.Summary)
		}
		if err == nil {
			err = sources[part.Source].add(part)
		}
		if err == nil {
			_, err = excluded.Write(part.Excluded)
			err = folderError(err)
		}
		if err != nil {
			return sum, nil, nil, err
		}
		files = append(files, part.Files...)
	}
	sum.Iterations = sources[0].Iterations
	return sum, sources, files, nil
}

// checkRows refuses a data set without rows, which a trainer would otherwise notice only hours later.
func checkRows(run relabel.Run, f relabel.ExportForm, sum summary) error {
	if sum.States == 0 {
		return emptyExport(run, sum.Excluded)
	}
	if sum.Preferences.Rows == 0 && slices.Equal(f.Views, []relabel.View{relabel.ViewPreference}) {
		return relabel.Errorf(relabel.CodeConflict, "no state gave a row of the preference view: %s", sum.Preferences.Describe())
	}
	return nil
}

// emptyExport returns the error for a data set without labelled states.
func emptyExport(run relabel.Run, excluded map[string]int) error {
	if len(excluded) == 0 {
		return relabel.Errorf(relabel.CodeConflict, "these iterations have no labelled states")
	}
	return relabel.Errorf(relabel.CodeConflict, "all labelled states were excluded: %s", reasonsText(run, excluded))
}

// writeWhole writes the trainer's files, README.md and manifest.json to the scratch folder. It returns the names of
// all files outside of the views but manifest.json.
func writeWhole(scratch *scratch, run relabel.Run, e relabel.Export, sum summary, m relabel.Manifest) ([]string, error) {
	own, described, err := trainerFiles(run, e, m)
	if err != nil {
		return nil, err
	}
	m.For = described
	names := []string{excludedName}
	for _, f := range own {
		if err := os.MkdirAll(filepath.Dir(scratch.path(f.Name)), folderMode); err != nil {
			return nil, err
		}
		if err := writeFile(scratch.path(f.Name), []byte(f.Text)); err != nil {
			return nil, err
		}
		names = append(names, f.Name)
	}
	var readme bytes.Buffer
	if err := writeReadme(&readme, run, e, sum, m); err != nil {
		return nil, err
	}
	manifest, err := encodeManifest(m)
	if err != nil {
		return nil, err
	}
	return append(names, readmeName), errors.Join(writeFile(scratch.path(readmeName), readme.Bytes()), writeFile(scratch.path(manifestName), manifest))
}

func describeFile(local, name string) (relabel.ExportFile, error) {
	f, err := os.Open(local)
	if err != nil {
		return relabel.ExportFile{}, err
	}
	defer f.Close()
	hash := sha256.New()
	n, err := io.Copy(hash, f)
	return relabel.ExportFile{Path: name, SHA256: hex.EncodeToString(hash.Sum(nil)), Bytes: n}, err
}

// countsText formats counts by reason, sorted by reason.
func countsText(counts map[string]int) string {
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d × %s", counts[reason], reason))
	}
	return strings.Join(parts, ", ")
}
