package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relabel"
	"relabel/api"
	"relabel/api/client"
)

// trajectoryImport is `relabel trajectory import FILE…`.
type trajectoryImport struct {
	ClientFlags
	Files []string `arg:"" type:"path" name:"file" help:"Documents in ATIF: JSON files with one each, .jsonl files with one per line, or folders that are searched for such files. Other JSON in folders is passed over."`
	api.ImportQuery
}

// Run imports the documents of all files together.
func (c *trajectoryImport) Run(ctx context.Context) error {
	lines, err := os.CreateTemp("", "relabel-atif-*.jsonl")
	if err != nil {
		return err
	}
	defer os.Remove(lines.Name())
	defer lines.Close()
	size, err := gatherDocuments(lines, c.Files)
	if err != nil {
		return err
	}
	if _, err := lines.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return c.With(ctx, func(cl *Session) error {
		sum, err := cl.ImportTrajectories(ctx, client.Values(c.ImportQuery), lines, size)
		if err != nil {
			return err
		}
		say("%s: %d trajectories of %d tasks, %d turns, %d of them with a label", sum.Run.Name, sum.Trajectories, sum.Tasks, sum.Turns, sum.Labels)
		for _, field := range slices.Sorted(maps.Keys(sum.Ignored)) {
			say("  not kept: %d × %s", sum.Ignored[field], field)
		}
		say("To label the states: relabel run relabel %s --teacher %s", sum.Run.Name, c.Teacher)
		return nil
	})
}

// gatherDocuments writes the documents of all files and folders to w, one per line, and returns their size in bytes.
func gatherDocuments(w io.Writer, paths []string) (size int64, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return size, err
		}
		if !info.IsDir() {
			n, err := appendDocuments(w, path, true)
			if err != nil {
				return size, err
			}
			size += n
			continue
		}
		err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(file) != ".json" && filepath.Ext(file) != ".jsonl" {
				return err
			}
			n, err := appendDocuments(w, file, false)
			size += n
			return err
		})
		if err != nil {
			return size, err
		}
	}
	if size == 0 {
		return 0, relabel.Errorf(relabel.CodeInvalid, "there is no document in ATIF: a JSON object with schema_version ATIF-v1.…")
	}
	return size, nil
}

// appendDocuments writes a file's documents, one per line. Other JSON is an error if the file was named.
func appendDocuments(w io.Writer, path string, named bool) (size int64, err error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	documents := [][]byte{content}
	if strings.HasSuffix(path, ".jsonl") {
		documents = bytes.Split(content, []byte("\n"))
	}
	for i, doc := range documents {
		if len(bytes.TrimSpace(doc)) == 0 {
			continue
		}
		if !isATIF(doc) {
			if named {
				return size, relabel.Errorf(relabel.CodeInvalid, "%s: document %d is not JSON with schema_version ATIF-v1.…", path, i+1)
			}
			continue
		}
		var line bytes.Buffer
		if err := json.Compact(&line, doc); err != nil {
			return size, relabel.Errorf(relabel.CodeInvalid, "%s: document %d is not JSON", path, i+1).Because(err)
		}
		line.WriteByte('\n')
		n, err := w.Write(line.Bytes())
		if err != nil {
			return size, err
		}
		size += int64(n)
	}
	return size, nil
}

// isATIF reports whether a document says that it is in ATIF.
func isATIF(doc []byte) bool {
	var head struct {
		SchemaVersion string `json:"schema_version"`
	}
	err := json.Unmarshal(doc, &head)
	var wrong *json.UnmarshalTypeError
	return (err == nil || errors.As(err, &wrong)) && strings.HasPrefix(head.SchemaVersion, "ATIF-v")
}
