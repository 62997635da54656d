package shard

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"relabel"
	"relabel/trainers"
)

// reachTime bounds one request that transfers no file, including retries. slowest is the
// lowest accepted transfer rate, in bytes per second.
const (
	reachTime = 30 * time.Second
	slowest   = 256 << 10
)

// bucket is storage in an object store. Files are visible as soon as they are uploaded; the
// manifest, uploaded last, makes them an export. It is never closed: the drivers' Close does
// nothing.
type bucket struct {
	*blob.Bucket
	url     string // for readers
	name    string // destination, for messages
	machine string // this machine, for messages
}

func openBucket(ctx context.Context, e relabel.Export, d Destinations, machine string) (*bucket, error) {
	at, err := d.parse(e.Destination)
	if err != nil {
		return nil, err
	}
	b := &bucket{name: at.name(), url: publicURL(e.Destination, at.prefix, e.ID), machine: machine}
	all, err := d.open(ctx, at)
	if err != nil {
		return nil, b.fault(err)
	}
	b.Bucket = blob.PrefixedBucket(all, path.Join(at.prefix, e.ID.String())+"/")
	return b, nil
}

// publicURL returns where readers find an export: the destination without its query
// parameters.
func publicURL(destination, prefix string, id relabel.ID) string {
	u, err := url.Parse(destination)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/" + path.Join(prefix, id.String())}).String()
}

func (b *bucket) directory() string { return b.url }

func (*bucket) release() error { return nil }

var octets = &blob.WriterOptions{ContentType: "application/octet-stream"}

// checkWritable uploads a test object and deletes it.
func (b *bucket) checkWritable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	// WriteAll would panic if Azure refused.
	if err := b.Upload(ctx, triedName, strings.NewReader("relabel write test\n"), octets); err != nil {
		return b.fault(err)
	}
	return b.fault(ignoreMissing(b.Delete(ctx, triedName)))
}

func (b *bucket) put(ctx context.Context, path, local string) error {
	file, err := os.Open(local)
	if err != nil {
		return folderError(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return folderError(err)
	}
	ctx, cancel := context.WithTimeout(ctx, reachTime+time.Duration(info.Size()/slowest)*time.Second)
	defer cancel()
	return b.fault(b.Upload(ctx, path, file, octets))
}

func (b *bucket) size(ctx context.Context, path string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	a, err := b.Attributes(ctx, path)
	switch {
	case gcerrors.Code(err) == gcerrors.NotFound:
		return -1, nil
	case err != nil:
		return 0, b.fault(err)
	}
	return a.Size, nil
}

func (b *bucket) publish(ctx context.Context, manifest string) error {
	return b.put(ctx, manifestName, manifest)
}

// open limits the wait for the response to reachTime; reading the file may take longer.
func (b *bucket) open(ctx context.Context, path string) (relabel.FileReader, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(reachTime, func() { cancel(context.DeadlineExceeded) })
	r, err := b.NewReader(ctx, path, nil)
	late.Stop()
	if err == nil {
		return &object{Reader: r, name: path, cancel: cancel}, nil
	}
	defer cancel(nil)
	switch {
	case gcerrors.Code(err) == gcerrors.NotFound:
		return nil, relabel.Errorf(relabel.CodeNotFound, "the export has no file %.200q", path).Because(err)
	case context.Cause(ctx) == context.DeadlineExceeded:
		err = context.DeadlineExceeded
	}
	return nil, b.fault(err)
}

// remove deletes the manifest first, so that the rest is no longer an export. It keeps
// objects whose names no export uses.
func (b *bucket) remove(ctx context.Context) error {
	if err := b.drop(ctx, manifestName); err != nil {
		return err
	}
	for objects := b.List(nil); ; {
		o, err := within(ctx, objects.Next)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return b.fault(err)
		}
		if !isExported(o.Key) {
			continue
		}
		if err := b.drop(ctx, o.Key); err != nil {
			return err
		}
	}
}

// drop deletes a file if it exists.
func (b *bucket) drop(ctx context.Context, path string) error {
	_, err := within(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, b.Delete(ctx, path) })
	return b.fault(ignoreMissing(err))
}

// within bounds a request that transfers no file.
func within[T any](ctx context.Context, do func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	return do(ctx)
}

func ignoreMissing(err error) error {
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	return err
}

// rowFile matches the names of files with rows, and of those that belong to the whole export.
var rowFile = regexp.MustCompile(`^(?:[a-z_]+/[0-9]+(?:\.idx)?\.(?:parquet|arrow|jsonl)|arrow/(?:state|dataset_info)\.json|manifest\.json|README\.md|(?:excluded|left_out)\.jsonl|\.tried)$`)

// isExported reports whether an export has files of this name: it has no other folders than its views.
func isExported(path string) bool {
	folder, _, inFolder := strings.Cut(path, "/")
	if inFolder && !slices.Contains(relabel.AllViews, relabel.View(folder)) {
		return false
	}
	return rowFile.MatchString(path) || trainers.IsFile(path)
}

// object adapts an object in a bucket to relabel.FileReader, which net/http serves.
type object struct {
	*blob.Reader
	name   string
	cancel context.CancelCauseFunc
}

// Close implements io.Closer.
func (o *object) Close() error {
	defer o.cancel(nil)
	return o.Reader.Close()
}

// Stat implements relabel.FileReader.
func (o *object) Stat() (os.FileInfo, error) { return o, nil }

// Name, Mode, IsDir, Sys and ModTime implement os.FileInfo; Size is the reader's own.
func (o *object) Name() string    { return path.Base(o.name) }
func (*object) Mode() fs.FileMode { return 0o444 }
func (*object) IsDir() bool       { return false }
func (*object) Sys() any          { return nil }
