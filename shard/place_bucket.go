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
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/s3blob"    // s3://
	"gocloud.dev/gcerrors"

	"relabel"
)

// bucketSchemes are the stores that an export can go to. Google's is reached as s3:// with
// its endpoint for that protocol; docs/operations.md says what its own client would cost.
var bucketSchemes = []string{"s3", "azblob"}

// reachTime bounds one request that moves no file, with its tries; slowest is how many
// bytes of a file go in a second at least.
const (
	reachTime = 30 * time.Second
	slowest   = 256 << 10
)

// CheckDestination refuses what is no bucket's URL, or holds a secret. An example of one
// that is: s3://bucket/prefix?region=eu-west-1.
func CheckDestination(destination string) error {
	_, _, err := bucketURL(destination)
	return err
}

// bucketURL takes a destination apart: the bucket as gocloud.dev/blob opens it, and the
// prefix within it, without slashes around.
func bucketURL(destination string) (bucket, prefix string, err error) {
	bad := func(format string, a ...any) (string, string, error) {
		return "", "", relabel.Errorf(relabel.CodeInvalid, format, a...).On("destination")
	}
	u, err := url.Parse(destination)
	if err != nil || u.Host == "" {
		return bad("must be the URL of a bucket, such as s3://bucket/prefix?region=eu-west-1")
	}
	if !slices.Contains(bucketSchemes, u.Scheme) {
		return bad("has the scheme %q; %s are known", u.Scheme, strings.Join(bucketSchemes, " and "))
	}
	if u.User != nil {
		return bad("must not hold a key: workers take it from their environment (AWS_ACCESS_KEY_ID and the like)")
	}
	prefix = strings.Trim(u.Path, "/")
	if prefix != "" && !fs.ValidPath(prefix) {
		return bad("has a prefix with empty or dotted parts")
	}
	for parameter := range u.Query() {
		if !slices.Contains(bucketParameters[u.Scheme], parameter) {
			return bad("has the parameter %q; for %s there are %s", parameter, u.Scheme, strings.Join(bucketParameters[u.Scheme], ", "))
		}
	}
	u.Path = ""
	return u.String(), prefix, nil
}

// bucketParameters are what a destination may say of how its bucket is reached.
var bucketParameters = map[string][]string{
	"s3": {"region", "endpoint", "use_path_style", "disable_https", "profile", "role", "anonymous", "ssetype", "kmskeyid", "accelerate", "dualstack", "fips",
		"hostname_immutable", "rate_limiter_capacity", "request_checksum_calculation", "response_checksum_validation", "s3ForcePathStyle"},
	"azblob": {"storage_account", "domain", "protocol", "cdn", "localemu"},
}

// bucket is a place in an object store. Its files are there as soon as they are put; the
// manifest, which comes last, makes them an export.
type bucket struct {
	*blob.Bucket
	url     string // for readers
	name    string // of the destination, for messages
	machine string // that writes to it, for messages
}

func openBucket(ctx context.Context, e relabel.Export, machine string) (*bucket, error) {
	address, prefix, err := bucketURL(e.Destination)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(e.Destination)
	if err != nil {
		return nil, err
	}
	b := &bucket{name: destinationName(u), url: publicURL(e.Destination, prefix, e.ID), machine: machine}
	all, err := blob.OpenBucket(ctx, address)
	if err != nil {
		return nil, b.fault(err)
	}
	b.Bucket = blob.PrefixedBucket(all, path.Join(prefix, e.ID.String())+"/")
	return b, nil
}

// publicURL is where readers find an export: the destination less what says how the
// bucket is reached.
func publicURL(destination, prefix string, id relabel.ID) string {
	u, err := url.Parse(destination)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/" + path.Join(prefix, id.String())}).String()
}

func (b *bucket) directory() string { return b.url }

var octets = &blob.WriterOptions{ContentType: "application/octet-stream"}

// ready takes a file and gives it back.
func (b *bucket) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	// Not by WriteAll, which panics where Azure refuses.
	if err := b.Upload(ctx, triedName, strings.NewReader("relabel tried whether it can write here\n"), octets); err != nil {
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

// open waits for the beginning of a file no longer than for any answer; whoever reads it
// may take longer.
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

// remove removes the manifest first: what is there then is no export any more. What is
// not an export's stays, whoever put it there.
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

// drop removes a file, if it is there.
func (b *bucket) drop(ctx context.Context, path string) error {
	_, err := within(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, b.Delete(ctx, path) })
	return b.fault(ignoreMissing(err))
}

// within bounds a request that moves no file.
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

// exported are the names that files of an export have.
var exported = regexp.MustCompile(`^(?:(?:messages|linear|packed|tree)/[0-9]+(?:\.idx)?\.parquet|manifest\.json|README\.md|left_out\.jsonl|\.tried)$`)

func isExported(path string) bool { return exported.MatchString(path) }

// object is a file in a bucket, as net/http serves files.
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

// Name, Mode, IsDir, Sys and ModTime implement os.FileInfo beside the reader's own Size.
func (o *object) Name() string    { return path.Base(o.name) }
func (*object) Mode() fs.FileMode { return 0o444 }
func (*object) IsDir() bool       { return false }
func (*object) Sys() any          { return nil }
