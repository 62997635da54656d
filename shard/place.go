package shard

import (
	"context"
	"errors"
	"io"

	"relabel"
)

// place is where one export is written. Its methods may be called from several machines
// at once; doing the same again does no harm, as the same export has the same files.
type place interface {
	// ready finds out whether files can be put, before they are built: it puts one of its
	// own, and removes it.
	ready(ctx context.Context) error
	// put makes the finished file at local a file of the export. local is gone or left;
	// the caller removes its folder.
	put(ctx context.Context, path, local string) error
	// size returns the bytes of a file that was put, -1 where there is none.
	size(ctx context.Context, path string) (int64, error)
	// publish puts manifest.json, from which moment on the export is there for readers.
	publish(ctx context.Context, manifest string) error
	// open opens a file of an export that was published. CodeNotFound where it has none such.
	open(ctx context.Context, path string) (relabel.FileReader, error)
	// remove removes whatever there is of the export.
	remove(ctx context.Context) error
	// directory is where readers find it: a folder's path or a URL.
	directory() string
	io.Closer
}

// place returns where e is written.
func (x *Exporter) place(ctx context.Context, e relabel.Export) (place, error) {
	if e.Destination != "" {
		return openBucket(ctx, e, x.Destinations, x.Machine)
	}
	return newFolder(x.Root, e.ID), nil
}

// Open opens a file of a finished export. CodeNotFound where it has none such.
func (x *Exporter) Open(ctx context.Context, e relabel.Export, path string) (relabel.FileReader, error) {
	at, err := x.readable(ctx, e)
	if err != nil {
		return nil, err
	}
	file, err := at.open(ctx, path)
	if err != nil {
		return nil, closeAfter(err, at)
	}
	return &closingReader{file, at}, nil
}

// Remove removes an export's files.
func (x *Exporter) Remove(ctx context.Context, e relabel.Export) error {
	at, err := x.readable(ctx, e)
	if err != nil {
		return err
	}
	return closeAfter(at.remove(ctx), at)
}

// readable refuses a folder of another machine.
func (x *Exporter) readable(ctx context.Context, e relabel.Export) (place, error) {
	if e.Destination == "" && e.FolderID != x.FolderID {
		return nil, relabel.Errorf(relabel.CodeConflict, "its files are in another data folder, in %s", e.Directory)
	}
	return x.place(ctx, e)
}

// closeAfter closes a place and returns the first error.
func closeAfter(err error, at place) error { return errors.Join(err, at.Close()) }

// closingReader closes the place with the file.
type closingReader struct {
	relabel.FileReader
	at place
}

// Close implements io.Closer.
func (r *closingReader) Close() error { return closeAfter(r.FileReader.Close(), r.at) }
