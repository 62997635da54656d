package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"relabel"
)

// exportFiles finds the files of exports for commands that read them on this machine.
type exportFiles struct {
	ClientFlags
	ports *Ports
	only  func(name string) bool // of an export on the Hub, the files that are needed; nil: all
}

// use calls do with the folder of an export that is given by its id, as a folder, or as a place on the Hugging
// Face Hub, from which it is fetched.
func (f exportFiles) use(ctx context.Context, export string, do func(dir string, fetch FetchTokenizer) error) error {
	registered := func(hash string) (relabel.TokenizerFiles, error) { return f.RegisteredTokenizer(ctx, hash) }
	switch {
	case IsFolder(export):
		return do(export, registered)
	case isPlace(export):
		dir, err := f.fetch(ctx, export)
		if err != nil {
			return err
		}
		return do(dir, registered)
	}
	id, err := relabel.ParseID("export", export)
	if err != nil {
		return notAnExport(export)
	}
	return f.With(ctx, func(cl *Session) error {
		e, err := cl.Export(ctx, id)
		if err != nil {
			return err
		}
		if err := hasFiles(e); err != nil {
			return err
		}
		dir := e.Directory
		if isPlace(dir) {
			if dir, err = f.fetch(ctx, dir); err != nil {
				return err
			}
		}
		return do(dir, func(hash string) (relabel.TokenizerFiles, error) { return cl.RegisteredTokenizer(ctx, hash) })
	})
}

// notAnExport is the error for an argument that names no export.
func notAnExport(export string) error {
	return relabel.Errorf(relabel.CodeNotFound, "%s is neither a folder on this machine, nor a place on the Hugging Face Hub (hf://organisation/name), nor the id of an export; `relabel export list` shows all", export)
}

// fetch fetches an export from the Hub and says which commit.
func (f exportFiles) fetch(ctx context.Context, place string) (dir string, err error) {
	dir, at, err := f.ports.FetchExport(ctx, place, f.only)
	if err == nil {
		fmt.Fprintf(os.Stderr, "%s is in %s\n", at, dir)
	}
	return dir, err
}

// isPlace reports whether an export is given as a place on the Hugging Face Hub.
func isPlace(export string) bool { return strings.HasPrefix(export, "hf://") }

// hasFiles returns an error for an export whose files cannot be read on this machine.
func hasFiles(e relabel.Export) error {
	switch {
	case e.State == relabel.ExportFailed:
		return relabel.Errorf(relabel.CodeConflict, "the export failed and has no files: %s", e.Failure)
	case e.State != relabel.ExportDone:
		return relabel.Errorf(relabel.CodeConflict, "the export is %s and has no complete files", e.State)
	case !IsFolder(e.Directory) && !isPlace(e.Directory):
		return relabel.Errorf(relabel.CodeNotFound, "its files are in %s, not on this machine: fetch them and give their folder, or use the viewer", e.Directory)
	}
	return nil
}
