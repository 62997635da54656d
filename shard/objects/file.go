package objects

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// File reads an object. It is not safe for concurrent use.
type File struct {
	name     string
	get      func(from int64) (*http.Response, error)
	body     io.ReadCloser // nil: the next Read requests it
	read     int64         // position of body
	at, size int64
	modified time.Time
	sum      string      // the expected checksum; "": none
	hash     hash.Hash32 // of what was read; nil: only a part is read
}

// Open opens an object. ctx must last until the file is closed.
func (c *client) Open(ctx context.Context, name string) (*File, error) {
	f := &File{name: name, get: func(from int64) (*http.Response, error) { return c.from(ctx, name, from) }}
	a, err := f.get(0)
	if err != nil {
		return nil, err
	}
	f.body, f.size = a.Body, a.ContentLength
	f.modified, _ = http.ParseTime(a.Header.Get("Last-Modified"))                              // zero: unknown, as fs.FileInfo says it
	if sum := a.Header.Get("X-Amz-Checksum-Crc32"); sum != "" && !strings.Contains(sum, "-") { // one of parts has a hyphen
		f.sum, f.hash = sum, crc32.NewIEEE()
	}
	if f.size < 0 {
		return nil, errors.Join(fmt.Errorf("%s: the answer has no Content-Length", name), f.Close())
	}
	return f, nil
}

// from requests an object from a byte on.
func (c *client) from(ctx context.Context, name string, from int64) (*http.Response, error) {
	r := request{method: http.MethodGet, name: name, header: c.reading}
	if from == 0 {
		return c.stream(ctx, r)
	}
	r.header = map[string]string{"Range": fmt.Sprintf("bytes=%d-", from)}
	return c.stream(ctx, r)
}

// Read implements io.Reader.
func (f *File) Read(b []byte) (int, error) {
	if f.at >= f.size {
		return 0, io.EOF
	}
	if err := f.move(); err != nil {
		return 0, err
	}
	n, err := f.body.Read(b[:min(int64(len(b)), f.size-f.at)])
	f.at += int64(n)
	f.read = f.at
	if f.hash != nil {
		_, _ = f.hash.Write(b[:n]) // never fails
	}
	switch {
	case f.at == f.size:
		if err := f.check(); err != nil {
			return 0, err // or who copies it would have all bytes before the error
		}
		return n, nil
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// move brings the body to the position of the next Read.
func (f *File) move() error {
	if f.body != nil && f.read == f.at {
		return nil
	}
	f.hash = nil
	if err := f.Close(); err != nil {
		return err
	}
	a, err := f.get(f.at)
	if err != nil {
		return err
	}
	f.body, f.read = a.Body, f.at
	want := fmt.Sprintf("bytes %d-%d/%d", f.at, f.size-1, f.size)
	if sent := a.Header.Get("Content-Range"); f.at > 0 && sent != want {
		return errors.Join(fmt.Errorf("%s: the server sends %.100q in the place of %q", f.name, sent, want), f.Close())
	}
	return nil
}

// check compares the checksum of a file that was read from its start to its end.
func (f *File) check() error {
	if f.hash == nil || base64.StdEncoding.EncodeToString(f.hash.Sum(nil)) == f.sum {
		return nil
	}
	return fmt.Errorf("%s: its bytes do not have its checksum %s", f.name, f.sum)
}

// Seek implements io.Seeker.
func (f *File) Seek(offset int64, whence int) (int64, error) {
	to := map[int]int64{io.SeekStart: 0, io.SeekCurrent: f.at, io.SeekEnd: f.size}[whence] + offset
	if to < 0 {
		return 0, fmt.Errorf("%s: seek to %d: %w", f.name, to, fs.ErrInvalid)
	}
	f.at = to
	return to, nil
}

// Close implements io.Closer.
func (f *File) Close() error {
	if f.body == nil {
		return nil
	}
	err := f.body.Close()
	f.body = nil
	return err
}

// Stat returns what is known of the object.
func (f *File) Stat() (fs.FileInfo, error) { return info{f}, nil }

// info is an fs.FileInfo of an object.
type info struct{ *File }

func (i info) Name() string       { return path.Base(i.name) }
func (i info) Size() int64        { return i.size }
func (i info) ModTime() time.Time { return i.modified }
func (info) Mode() fs.FileMode    { return 0o444 }
func (info) IsDir() bool          { return false }
func (info) Sys() any             { return nil }
