package shard

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/s3blob"    // s3://
	"gocloud.dev/gcerrors"

	"relabel"
)

// bucketSchemes are the stores that an export can go to. Google's is reached as s3:// with
// its endpoint for that protocol: its own client would double this program's size.
var bucketSchemes = []string{"s3", "azblob"}

// bucketTime bounds one request that moves no file.
const bucketTime = time.Minute

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
	known := false
	for _, scheme := range bucketSchemes {
		known = known || u.Scheme == scheme
	}
	if !known {
		return bad("has the scheme %q; %s are known", u.Scheme, strings.Join(bucketSchemes, " and "))
	}
	if u.User != nil {
		return bad("must not hold a key: workers take it from their environment (AWS_ACCESS_KEY_ID and the like)")
	}
	prefix = strings.Trim(u.Path, "/")
	if prefix != "" && !fs.ValidPath(prefix) {
		return bad("has a prefix with empty or dotted parts")
	}
	u.Path = ""
	return u.String(), prefix, nil
}

// bucket is a place in an object store. Its files are there as soon as they are put; the
// manifest, which comes last, makes them an export.
type bucket struct {
	*blob.Bucket
	url string // for readers
}

func openBucket(ctx context.Context, e relabel.Export) (*bucket, error) {
	address, prefix, err := bucketURL(e.Destination)
	if err != nil {
		return nil, err
	}
	b, err := blob.OpenBucket(ctx, address)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "the bucket cannot be opened: check its URL, and the keys in this process's environment").On("destination").Because(err)
	}
	under := path.Join(prefix, e.ID.String())
	return &bucket{Bucket: blob.PrefixedBucket(b, under+"/"), url: publicURL(e.Destination, prefix, e.ID)}, nil
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

func (b *bucket) put(ctx context.Context, path, local string) error {
	file, err := os.Open(local)
	if err != nil {
		return folderError(err)
	}
	defer file.Close()
	return bucketError(b.Upload(ctx, path, file, &blob.WriterOptions{ContentType: "application/octet-stream"}))
}

func (b *bucket) size(ctx context.Context, path string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, bucketTime)
	defer cancel()
	a, err := b.Attributes(ctx, path)
	switch {
	case gcerrors.Code(err) == gcerrors.NotFound:
		return -1, nil
	case err != nil:
		return 0, bucketError(err)
	}
	return a.Size, nil
}

func (b *bucket) publish(ctx context.Context, manifest string) error {
	return b.put(ctx, manifestName, manifest)
}

func (b *bucket) open(ctx context.Context, path string) (relabel.FileReader, error) {
	r, err := b.NewReader(ctx, path, nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, relabel.Errorf(relabel.CodeNotFound, "the export has no file %.200q", path).Because(err)
	}
	if err != nil {
		return nil, bucketError(err)
	}
	return &object{r, path}, nil
}

func (b *bucket) remove(ctx context.Context) error {
	for objects := b.List(nil); ; {
		o, err := objects.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = b.Delete(ctx, o.Key)
		}
		if err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return bucketError(err)
		}
	}
}

// object is a file in a bucket, as net/http serves files.
type object struct {
	*blob.Reader
	name string
}

// Stat implements relabel.FileReader.
func (o *object) Stat() (os.FileInfo, error) { return o, nil }

// Name, Mode, IsDir, Sys and ModTime implement os.FileInfo beside the reader's own Size.
func (o *object) Name() string    { return path.Base(o.name) }
func (*object) Mode() fs.FileMode { return 0o444 }
func (*object) IsDir() bool       { return false }
func (*object) Sys() any          { return nil }

// bucketError gives an object store's error a message that is safe to show.
func bucketError(err error) error {
	var e *relabel.Error
	switch code := gcerrors.Code(err); {
	case err == nil || errors.As(err, &e) || errors.Is(err, context.Canceled):
		return err
	case code == gcerrors.PermissionDenied:
		return relabel.Errorf(relabel.CodeInvalid, "the bucket may not be written to with the keys in this process's environment").On("destination").Because(err)
	case code == gcerrors.NotFound || code == gcerrors.InvalidArgument:
		return relabel.Errorf(relabel.CodeInvalid, "the bucket is not there, or not reached as its URL says").On("destination").Because(err)
	}
	return relabel.Errorf(relabel.CodeUnavailable, "the bucket did not take or give a file").Because(err)
}
