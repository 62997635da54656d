package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"relabel"
)

// resolve returns the address of a file of a place.
func (c *Client) resolve(p Place, name string) string {
	var segments []string
	for _, s := range strings.Split(p.file(name), "/") {
		segments = append(segments, url.PathEscape(s))
	}
	return c.Endpoint + "/datasets/" + p.Repo + "/resolve/" + url.PathEscape(p.Revision) + "/" + strings.Join(segments, "/")
}

// read returns the bytes of a small file.
func (c *Client) read(ctx context.Context, p Place, name string) ([]byte, error) {
	var text []byte
	r := request{method: http.MethodGet, address: c.resolve(p, name)}
	err := c.repeat(ctx, func() error {
		ctx, cancel := context.WithTimeout(ctx, reachTime)
		defer cancel()
		answer, err := c.send(ctx, r)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		text, err = io.ReadAll(io.LimitReader(answer.Body, mostJSON))
		return unanswered(r, err)
	})
	return text, err
}

// Commit returns the hash of the commit that a place's revision is.
func (c *Client) Commit(ctx context.Context, p Place) (string, error) {
	if p.IsCommit() {
		return p.Revision, nil
	}
	r, err := c.find(ctx, p)
	return r.SHA, err
}

// Open opens a file of a place, whose revision should be a commit. CodeNotFound if there is none.
func (c *Client) Open(ctx context.Context, p Place, name string) (relabel.FileReader, error) {
	header, err := c.call(ctx, request{method: http.MethodHead, address: c.resolve(p, name), head: true, header: map[string]string{"Accept-Encoding": "identity"}}, nil)
	if isMissingEntry(err) {
		return nil, relabel.Errorf(relabel.CodeNotFound, "the export has no file %.200q", name).Because(err)
	}
	if err != nil {
		return nil, err
	}
	size := header.Get("X-Linked-Size") // of a file in LFS, whose bytes are elsewhere
	if size == "" {
		size = header.Get("Content-Length")
	}
	f := &remote{client: c, ctx: ctx, request: request{method: http.MethodGet, address: c.resolve(p, name)}, name: name}
	if f.size, err = strconv.ParseInt(size, 10, 64); err != nil || f.size < 0 {
		return nil, &Error{Status: http.StatusOK, Message: "its answer has no size", where: where(f.request), cause: err}
	}
	return f, nil
}

// remote reads a file by ranges. It implements relabel.FileReader and fs.FileInfo.
type remote struct {
	client  *Client
	ctx     context.Context // of the reader's caller
	request request
	name    string
	size    int64
	at      int64
	body    io.ReadCloser // stands at at; nil: nothing is open
}

// Read implements io.Reader.
func (f *remote) Read(p []byte) (int, error) {
	if f.at >= f.size {
		return 0, io.EOF
	}
	if f.body == nil {
		if err := f.open(); err != nil {
			return 0, err
		}
	}
	n, err := f.body.Read(p[:min(int64(len(p)), f.size-f.at)]) // a server may send more
	f.at += int64(n)
	if errors.Is(err, io.EOF) && f.at < f.size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return n, unanswered(f.request, err)
	}
	return n, err
}

// open asks for the bytes from at on.
func (f *remote) open() error {
	return f.client.repeat(f.ctx, func() error {
		r := f.request
		r.header = map[string]string{"Range": fmt.Sprintf("bytes=%d-%d", f.at, f.size-1), "Accept-Encoding": "identity"}
		answer, err := f.client.send(f.ctx, r)
		if err != nil {
			return err
		}
		if answer.StatusCode != http.StatusPartialContent && f.at > 0 {
			return errors.Join(&Error{Status: answer.StatusCode, Message: "it does not send ranges of files", where: where(r)}, answer.Body.Close())
		}
		f.body = answer.Body
		return nil
	})
}

// Seek implements io.Seeker.
func (f *remote) Seek(offset int64, whence int) (int64, error) {
	to := offset
	switch whence {
	case io.SeekCurrent:
		to += f.at
	case io.SeekEnd:
		to += f.size
	}
	if to < 0 {
		return f.at, fs.ErrInvalid
	}
	if to == f.at {
		return to, nil
	}
	f.at = to
	return to, f.Close()
}

// Close implements io.Closer. The file can be read again afterwards.
func (f *remote) Close() error {
	if f.body == nil {
		return nil
	}
	err := f.body.Close()
	f.body = nil
	return err
}

// Stat implements relabel.FileReader.
func (f *remote) Stat() (fs.FileInfo, error) { return f, nil }

// Name, Size, Mode, ModTime, IsDir and Sys implement fs.FileInfo.
func (f *remote) Name() string     { return path.Base(f.name) }
func (f *remote) Size() int64      { return f.size }
func (*remote) Mode() fs.FileMode  { return 0o444 }
func (*remote) ModTime() time.Time { return time.Time{} }
func (*remote) IsDir() bool        { return false }
func (*remote) Sys() any           { return nil }
