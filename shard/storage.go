package shard

import (
	"context"

	"relabel"
	"relabel/shard/hub"
)

// storage is where one export is written. Its methods may be called concurrently from several
// machines and may be repeated, since the same export has the same files.
type storage interface {
	// checkWritable tests whether files can be written, by writing and removing a test file.
	checkWritable(ctx context.Context) error
	// put adds the finished file at local to the export. It may move local or leave it; the
	// caller removes its folder.
	put(ctx context.Context, path, local string) error
	// size returns the size of a file in bytes, -1 if the file does not exist.
	size(ctx context.Context, path string) (int64, error)
	// drop removes a file of an unpublished export if it exists.
	drop(ctx context.Context, path string) error
	// publish writes manifest.json, which makes the export visible to readers.
	publish(ctx context.Context, manifest string) error
	// open opens a file of a published export. CodeNotFound if there is no such file.
	open(ctx context.Context, path string) (relabel.FileReader, error)
	// release removes what only building needed, once the export is done.
	release() error
	// remove removes all files of the export.
	remove(ctx context.Context) error
	// directory returns where readers find the export: a folder's path or a URL.
	directory() string
}

// storage returns the storage that e is written to.
func (x *Exporter) storage(e relabel.Export) (storage, error) {
	if hub.IsPlace(e.Destination) {
		return x.openHub(e)
	}
	if e.Destination != "" {
		return openBucket(e, x.Destinations, x.Machine)
	}
	return newFolder(x.Root, e.ID), nil
}

// Open opens a file of a finished export. CodeNotFound if there is no such file.
func (x *Exporter) Open(ctx context.Context, e relabel.Export, path string) (relabel.FileReader, error) {
	at, err := x.readable(e)
	if err != nil {
		return nil, err
	}
	file, err := at.open(ctx, path)
	if path == excludedName && relabel.CodeOf(err) == relabel.CodeNotFound {
		return at.open(ctx, relabel.EarlierExcludedName)
	}
	return file, err
}

// Remove removes an export's files.
func (x *Exporter) Remove(ctx context.Context, e relabel.Export) error {
	at, err := x.readable(e)
	if err != nil {
		return err
	}
	return at.remove(ctx)
}

// readable returns the storage of e. CodeConflict if it is a folder on another machine.
func (x *Exporter) readable(e relabel.Export) (storage, error) {
	if e.Destination == "" && e.FolderID != x.FolderID {
		return nil, relabel.Errorf(relabel.CodeConflict, "its files are in another data folder: %s", e.Directory)
	}
	return x.storage(e)
}
