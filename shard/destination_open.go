package shard

import (
	"context"
	"io"

	"relabel/shard/objects"
)

// objectStore is a bucket or a container. Methods may be called concurrently, and repeat what fails for a reason that
// passes.
type objectStore interface {
	// Put writes an object of size bytes, which is visible once it is complete.
	Put(ctx context.Context, name string, file io.ReaderAt, size int64) error
	// Size returns the size of an object in bytes.
	Size(ctx context.Context, name string) (int64, error)
	// Open opens an object. ctx must last until the file is closed.
	Open(ctx context.Context, name string) (*objects.File, error)
	Delete(ctx context.Context, name string) error
	// List returns the names of some objects that begin with prefix, and where to continue; "": there are no more.
	List(ctx context.Context, prefix, from string) (names []string, next string, err error)
}

// open opens a bucket. It sends no request.
func (d Destinations) open(at destination) (objectStore, error) {
	place := objects.Place{Bucket: at.bucket, Options: at.options, Transport: d.Transport, CloudKeys: d.CloudKeys}
	if at.scheme == schemeAzure {
		return objects.OpenAzure(place)
	}
	return objects.OpenS3(place)
}
