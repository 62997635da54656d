package objects

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

const (
	mostAnswer    = 4 << 20 // bytes of an answer that is no file; XML takes up to 60 times as many in memory
	expectedAbove = 1 << 20 // a body above this many bytes is sent once the server agrees
)

// client sends signed requests for the objects of one bucket. It is safe for concurrent use.
type client struct {
	http *http.Client
	base string // URL of the bucket, without a slash at its end
	sign func(*http.Request) error
	// reading are headers of requests for a file.
	reading map[string]string
}

// request is a request that can be repeated.
type request struct {
	method string
	name   string // of the object; "": the bucket itself
	query  url.Values
	header map[string]string
	body   *io.SectionReader // nil: none
}

// answer is an answer without its file.
type answer struct {
	header http.Header
	length int64 // Content-Length, of a file that was not sent too; -1: unknown
	body   []byte
}

// escape encodes a name for a URL as both protocols sign it: all but letters, digits, "-._~" and slashes.
func escape(name string) string {
	return strings.ReplaceAll(encode(name), "%2F", "/")
}

// encode encodes a part of a query in the same way, without exceptions.
func encode(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}

// textBody is the body of a request that is no file.
func textBody(text []byte) *io.SectionReader {
	return io.NewSectionReader(bytes.NewReader(text), 0, int64(len(text)))
}

// build makes an unsigned HTTP request.
func (c *client) build(ctx context.Context, r request) (*http.Request, error) {
	address := c.base
	if r.name != "" {
		address += "/" + escape(r.name)
	}
	q, err := http.NewRequestWithContext(ctx, r.method, address, http.NoBody)
	if err != nil || strings.ContainsAny(c.base, "?#") { // behind which a path would be none
		return nil, SettingError("the address of the server is not a URL: check the region, the endpoint and the other parameters of the destination")
	}
	q.URL.RawQuery = strings.ReplaceAll(r.query.Encode(), "+", "%20")
	q.Header.Set("User-Agent", "relabel")
	q.Header.Set("Accept-Encoding", "identity") // sizes are those of the stored bytes
	for name, value := range r.header {
		q.Header.Set(name, value)
	}
	if r.body == nil || r.body.Size() == 0 {
		return q, nil
	}
	q.GetBody = func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(r.body, 0, r.body.Size())), nil
	}
	q.Body, _ = q.GetBody()
	q.ContentLength = r.body.Size()
	if r.body.Size() > expectedAbove {
		q.Header.Set("Expect", "100-continue")
	}
	return q, nil
}

// send sends a request once. Its caller closes the body of the answer.
func (c *client) send(ctx context.Context, r request) (*http.Response, error) {
	q, err := c.build(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := c.sign(q); err != nil {
		return nil, err
	}
	return exchange(c.http, q)
}

// exchange sends a request. An answer without success is an *Error.
func exchange(client *http.Client, q *http.Request) (*http.Response, error) {
	a, err := client.Do(q)
	if err != nil {
		return nil, withoutQuery(err)
	}
	if a.StatusCode/100 != 2 {
		defer a.Body.Close()
		return nil, refusal(q, a)
	}
	return a, nil
}

// withoutQuery removes the query from the URL that an error names, since it may have a SAS token.
func withoutQuery(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		failed.URL, _, _ = strings.Cut(failed.URL, "?")
	}
	return err
}

// stream sends a request and repeats it if it fails for a reason that passes. Its caller closes the body of the answer.
func (c *client) stream(ctx context.Context, r request) (a *http.Response, err error) {
	err = repeat(ctx, func() error {
		a, err = c.send(ctx, r)
		return err
	})
	return a, err
}

// call sends a request, reads the answer, and repeats both if they fail for a reason that passes.
func (c *client) call(ctx context.Context, r request) (a answer, err error) {
	err = repeat(ctx, func() error {
		got, err := c.send(ctx, r)
		if err != nil {
			return err
		}
		defer got.Body.Close()
		a = answer{header: got.Header, length: got.ContentLength}
		if a.body, err = io.ReadAll(io.LimitReader(got.Body, mostAnswer)); err != nil {
			return err
		}
		return lateRefusal(got.Request, a.body)
	})
	return a, err
}

// decode decodes the XML of an answer.
func (a answer) decode(v any) error {
	if err := xml.Unmarshal(a.body, v); err != nil {
		return fmt.Errorf("the answer is not the XML of the protocol: %w", err)
	}
	return nil
}

// Size returns the size of an object in bytes.
func (c *client) Size(ctx context.Context, name string) (int64, error) {
	a, err := c.call(ctx, request{method: http.MethodHead, name: name})
	if err == nil && a.length < 0 {
		return 0, fmt.Errorf("%s: the answer has no Content-Length", name)
	}
	return a.length, err
}

// Delete deletes an object.
func (c *client) Delete(ctx context.Context, name string) error {
	_, err := c.call(ctx, request{method: http.MethodDelete, name: name})
	return err
}
