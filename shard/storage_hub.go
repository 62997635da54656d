package shard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"relabel"
	"relabel/shard/hub"
)

// onHub is storage in a data set repository of the Hugging Face Hub. The export is built in the exports' folder; its
// last step pushes all files in one commit, so that readers never see a part of it.
type onHub struct {
	*folder // where it is built; only its partial folder is used
	client  *hub.Client
	place   hub.Place // at the commit, once there is one
	done    bool      // whether the export is done
	export  relabel.ID
}

func (x *Exporter) openHub(e relabel.Export) (*onHub, error) {
	place, err := hub.ParsePlace(e.Destination)
	if err != nil {
		return nil, err
	}
	client, err := x.Destinations.Hub("relabel/"+x.Version, hubPatience)
	if err != nil {
		return nil, err
	}
	h := &onHub{folder: newFolder(x.Root, e.ID), client: client, place: place, export: e.ID}
	if e.State == relabel.ExportDone {
		h.done = true
		h.place, err = hub.ParsePlace(e.Directory)
	}
	return h, err
}

// directory returns the place, once pushed at its commit.
func (h *onHub) directory() string { return h.place.String() }

func (h *onHub) checkWritable(ctx context.Context) error {
	if err := h.folder.checkWritable(ctx); err != nil {
		return err
	}
	return hubFault(h.place, h.client.Check(ctx, h.place))
}

// publish pushes the finished files. Repeating it makes no second commit.
func (h *onHub) publish(ctx context.Context, manifest string) error {
	if err := h.put(ctx, manifestName, manifest); err != nil {
		return err
	}
	files, err := exportedFiles(h.partial)
	if err != nil {
		return folderError(err)
	}
	commit, err := h.client.Push(ctx, h.place, files, fmt.Sprintf("Add export %s", h.export), func(int64) {})
	if err != nil {
		return hubFault(h.place, err)
	}
	h.place = h.place.At(commit)
	return nil
}

// exportedFiles describes the files of an export in a folder.
func exportedFiles(dir string) (files []hub.File, err error) {
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return nil, err
	}
	names, err := hub.FilesOf(text)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "%s: %v", manifestName, err)
	}
	for _, name := range names {
		f, err := hub.Describe(dir, name)
		if name == relabel.EarlierExcludedName && errors.Is(err, fs.ErrNotExist) {
			continue // an export of this version
		}
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

func (h *onHub) open(ctx context.Context, path string) (relabel.FileReader, error) {
	if !h.done {
		return nil, relabel.Errorf(relabel.CodeNotFound, "the export has no file %.200q", path)
	}
	file, err := h.client.Open(ctx, h.place, path)
	return file, hubFault(h.place, err)
}

// remove removes what was built. CodeConflict for an export that is done: its commit stays in the history of the
// repository, and others may use it.
func (h *onHub) remove(context.Context) error {
	if h.done {
		return relabel.Errorf(relabel.CodeConflict, "it was pushed to %s, where its commit stays in the history: delete the data set on the Hub if it must go", h.place)
	}
	return h.release()
}

// release removes what was built, after the push.
func (h *onHub) release() error { return folderError(os.RemoveAll(h.partial)) }

// hubFault converts an error of the Hub into one that is safe to show; others are returned unchanged.
func hubFault(p hub.Place, err error) error {
	var known *relabel.Error
	var e *hub.Error
	switch {
	case errors.As(err, &known) && known.Code == relabel.CodeAddressRefused: // from the dialer
		return relabel.Errorf(known.Code, "%s: %s", p, known.Message).On("destination").Because(err)
	case known != nil || !errors.As(err, &e):
		return folderError(err)
	}
	f := &destinationFault{words: e.Words(), refused: e.Refused(), cause: err}
	return relabel.Errorf(relabel.CodeUnavailable, "%s: %s", p, f.words).On("destination").Because(f)
}
