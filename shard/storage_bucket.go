package shard

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"relabel"
	"relabel/shard/objects"
	"relabel/trainers"
)

// reachTime bounds one request that transfers no file, including retries. slowest is the
// lowest accepted transfer rate, in bytes per second.
const (
	reachTime = 30 * time.Second
	slowest   = 256 << 10
)

// transferTime bounds the transfer of a file.
func transferTime(bytes int64) time.Duration {
	return reachTime + time.Duration(bytes/slowest)*time.Second
}

// bucket is storage in an object store. Files are visible as soon as they are uploaded; the
// manifest, uploaded last, makes them an export.
type bucket struct {
	objects objectStore
	prefix  string // of the export's objects, with a slash at its end
	url     string // for readers
	name    string // destination, for messages
	machine string // this machine, for messages
}

func openBucket(e relabel.Export, d Destinations, machine string) (*bucket, error) {
	at, err := d.parse(e.Destination)
	if err != nil {
		return nil, err
	}
	b := &bucket{name: at.name(), url: publicURL(e.Destination, at.prefix, e.ID), machine: machine}
	b.prefix = storedName(at.scheme, path.Join(at.prefix, e.ID.String())+"/")
	b.objects, err = d.open(at)
	return b, b.fault(err)
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

// checkWritable uploads a test object and deletes it.
func (b *bucket) checkWritable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	text := strings.NewReader("relabel write test\n")
	if err := b.objects.Put(ctx, b.prefix+triedName, text, text.Size()); err != nil {
		return b.fault(err)
	}
	return b.drop(ctx, triedName)
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
	ctx, cancel := context.WithTimeout(ctx, transferTime(info.Size()))
	defer cancel()
	return b.fault(b.objects.Put(ctx, b.prefix+path, file, info.Size()))
}

func (b *bucket) size(ctx context.Context, path string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	size, err := b.objects.Size(ctx, b.prefix+path)
	if objects.IsMissing(err) {
		return -1, nil
	}
	return size, b.fault(err)
}

func (b *bucket) publish(ctx context.Context, manifest string) error {
	return b.put(ctx, manifestName, manifest)
}

// open limits the wait for the response to reachTime; reading the file may take longer.
func (b *bucket) open(ctx context.Context, path string) (relabel.FileReader, error) {
	if !fs.ValidPath(path) { // a server could resolve ".."
		return nil, relabel.Errorf(relabel.CodeNotFound, "the export has no file %.200q", path)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(reachTime, func() { cancel(context.DeadlineExceeded) })
	file, err := b.objects.Open(ctx, b.prefix+path)
	late.Stop()
	if err == nil {
		return &object{File: file, cancel: cancel}, nil
	}
	defer cancel(nil)
	switch {
	case objects.IsMissing(err):
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
	from := ""
	for {
		names, next, err := b.list(ctx, from)
		if err != nil {
			return b.fault(err)
		}
		for _, name := range names {
			name = strings.TrimPrefix(name, b.prefix)
			if !isExported(name) {
				continue
			}
			if err := b.drop(ctx, name); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		from = next
	}
}

// list returns the names of some objects of the export, and where to continue.
func (b *bucket) list(ctx context.Context, from string) (names []string, next string, err error) {
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	names, next, err = b.objects.List(ctx, b.prefix, from)
	if err == nil && next != "" && next == from {
		err = errors.New("the list of objects does not end: its next page is the same again")
	}
	return names, next, err
}

// drop deletes a file if it exists.
func (b *bucket) drop(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	err := b.objects.Delete(ctx, b.prefix+path)
	if objects.IsMissing(err) {
		return nil
	}
	return b.fault(err)
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

// object is a file whose requests end with it.
type object struct {
	*objects.File
	cancel context.CancelCauseFunc
}

// Close implements io.Closer.
func (o *object) Close() error {
	defer o.cancel(nil)
	return o.File.Close()
}
