// Package client speaks to a relabel server: a method an operation of the REST interface.
// Errors are *relabel.Error with the code that the server gave; CodeUnavailable if no
// server answers.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"relabel"
	"relabel/api"
)

// Client speaks to one server. Its methods are safe for concurrent use while its fields stay
// as they are.
type Client struct {
	Base  string // address, such as http://127.0.0.1:7788
	Token string // bearer token; empty: none is sent
	// HTTP sends the requests; nil: http.DefaultClient. Its Timeout must be zero: a followed
	// stream may stay open for an hour. Its CheckRedirect is ignored: redirects are never followed,
	// so that a token is sent to Base alone.
	HTTP *http.Client
	// Find returns the address of a server that may have moved when it restarted, given the
	// last one; nil: it stays. Follow asks it before it connects again, and sets Base.
	Find func(base string) string
	// Waiting is called once an outage when Follow waits for a server that does not answer;
	// nil: nobody is told.
	Waiting func()
}

// New returns a client of the server at an address. CodeInvalid if that is not an http or
// https address.
func New(base, token string) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, relabel.Errorf(relabel.CodeInvalid, "%q is not an http or https address; write http://HOST:PORT", base)
	}
	return &Client{Base: strings.TrimSuffix(base, "/"), Token: token}, nil
}

// keyContext finds the Idempotency-Key in a context.
type keyContext struct{}

// WithKey gives the POST that is sent with a context an Idempotency-Key: repeated with the
// same key and body it is done once and answered alike. Without it each POST has a new key.
func WithKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyContext{}, key)
}

// at is a path below /v1 of names, which may hold any character.
func at(parts ...string) string {
	path := "/v1"
	for _, part := range parts {
		path += "/" + url.PathEscape(part)
	}
	return path
}

// Values returns the parameters that a query type of package api sets.
func Values(query any) url.Values {
	values, s := url.Values{}, reflect.ValueOf(query)
	for _, f := range reflect.VisibleFields(s.Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("query"), ",")
		at := s.FieldByIndex(f.Index)
		if name == "" || at.IsZero() {
			continue
		}
		if t, isTime := at.Interface().(time.Time); isTime {
			values.Set(name, t.UTC().Format(time.RFC3339))
			continue
		}
		if texts, several := at.Interface().([]string); several {
			values[name] = texts
			continue
		}
		if at.Kind() == reflect.Slice {
			words := make([]string, at.Len())
			for i := range words {
				words[i] = fmt.Sprint(at.Index(i).Interface())
			}
			values.Set(name, strings.Join(words, ","))
			continue
		}
		values.Set(name, fmt.Sprint(at.Interface()))
	}
	return values
}

// under adds parameters to a path.
func under(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

func get[T any](ctx context.Context, c *Client, path string) (answer T, err error) {
	return answer, c.Send(ctx, http.MethodGet, path, nil, &answer)
}

func post[T any](ctx context.Context, c *Client, path string, body any) (answer T, err error) {
	return answer, c.Send(ctx, http.MethodPost, path, body, &answer)
}

// list reads every page of a list.
func list[T any](ctx context.Context, c *Client, path string, query url.Values) ([]T, error) {
	parameters := url.Values{"limit": {"500"}}
	for name, values := range query {
		parameters[name] = values
	}
	var all []T
	seen := map[string]bool{}
	for size := 0; size < mostList; size += smallPage {
		text, err := get[json.RawMessage](ctx, c, under(path, parameters))
		if err != nil {
			return nil, err
		}
		var page api.Page[T]
		if err := json.Unmarshal(text, &page); err != nil {
			return nil, c.unusable(err)
		}
		size += len(text)
		if page.Items == nil || len(page.Items) == 0 && page.Next != "" || seen[page.Next] {
			return nil, c.unusable(errors.New("it sent no page of a list, or an earlier page"))
		}
		all = append(all, page.Items...)
		if page.Next == "" {
			return all, nil
		}
		seen[page.Next] = true
		parameters.Set("after", page.Next)
	}
	return nil, relabel.Errorf(relabel.CodeUnavailable, "a list of %s is over %d MiB", c.Base, mostList>>20)
}

// Bounds of a list, in bytes. Each page counts as a small one more, so that empty items end too.
const (
	mostList  = 512 << 20
	smallPage = 128 << 10
)

// file is a body that is sent as it is.
type file struct {
	kind    string // Content-Type
	content io.Reader
	size    int64 // bytes of content
}

// Send is for what has no method: it sends a body (nil: none; a file as it is; anything else as JSON) to a path such as /v1/runs and reads the JSON
// of the answer into out, unless that is nil.
func (c *Client) Send(ctx context.Context, method, path string, body, out any) error {
	f, isFile := body.(file)
	if !isFile && body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		f = file{"application/json", bytes.NewReader(text), int64(len(text))}
	}
	res, err := c.whole(ctx, method, path, f)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if out == nil || res.StatusCode == http.StatusNoContent {
		return nil
	}
	var text json.RawMessage
	err = json.NewDecoder(res.Body).Decode(&text)
	if string(text) == "null" {
		err = errors.New("the answer is null")
	}
	if err == nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		return c.unusable(err)
	}
	return nil
}

// unusable returns the error for an answer that cannot be read.
func (c *Client) unusable(err error) error {
	if large, is := errors.AsType[*http.MaxBytesError](err); is {
		return relabel.Errorf(relabel.CodeUnavailable, "an answer of %s is over %d MiB", c.Base, large.Limit>>20)
	}
	return relabel.Errorf(relabel.CodeUnavailable, "%s is not a relabel server, or the connection broke", c.Base).Because(err)
}

// mostAnswer bounds an answer that is read whole, in bytes. Streams and files of exports have no
// bound.
const mostAnswer = 64 << 20

// whole is open for an answer that is read whole.
func (c *Client) whole(ctx context.Context, method, path string, f file) (*http.Response, error) {
	res, err := c.open(ctx, method, path, f, nil)
	if err == nil {
		res.Body = http.MaxBytesReader(nil, res.Body, mostAnswer)
	}
	return res, err
}

// open sends a request and returns the answer if it is not a problem. The caller closes
// its body.
func (c *Client) open(ctx context.Context, method, path string, f file, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.Base+path, f.content)
	if err != nil {
		return nil, err
	}
	if f.content != nil {
		req.ContentLength = f.size
	}
	if header != nil {
		req.Header = header
	}
	if f.content != nil {
		req.Header.Set("Content-Type", f.kind)
	}
	if method == http.MethodPost {
		key, given := ctx.Value(keyContext{}).(string)
		if !given {
			key = relabel.NewID().String()
		}
		req.Header.Set("Idempotency-Key", key)
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	sender := *cmp.Or(c.HTTP, http.DefaultClient)
	sender.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := sender.Do(req)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "no answer from %s", c.Base).Because(err)
	}
	if res.StatusCode < http.StatusMultipleChoices {
		return res, nil
	}
	defer res.Body.Close()
	if to, err := res.Location(); err == nil && res.StatusCode < http.StatusBadRequest {
		return nil, relabel.Errorf(relabel.CodeInvalid, "%s redirects to %.200q; use that address if you trust it", c.Base, to.Redacted())
	}
	return nil, problem(res)
}

// Bounds of the answer that says what is wrong.
const (
	mostProblem = 1 << 20 // bytes
	mostErrors  = 20      // that are shown
)

// problem turns a problem+json answer into the error that the server meant.
func problem(res *http.Response) error {
	var p api.Problem
	body, err := io.ReadAll(io.LimitReader(res.Body, mostProblem))
	if err != nil || json.Unmarshal(body, &p) != nil || p.Code == "" {
		return relabel.Errorf(relabel.CodeInternal, "the server answered %s", res.Status)
	}
	lines := []string{p.Detail}
	if len(p.Errors) > 1 { // the detail has the text of the first
		for k, e := range p.Errors {
			if k == mostErrors {
				lines = append(lines, fmt.Sprintf("and %d more errors", len(p.Errors)-k))
				break
			}
			location := strings.TrimPrefix(strings.TrimPrefix(e.Location, "body."), "query.")
			if line := strings.TrimPrefix(location+": "+e.Message, ": "); line != p.Detail {
				lines = append(lines, line)
			}
		}
	}
	for k, line := range lines {
		lines[k] = fmt.Sprintf("%.2000s", strings.ReplaceAll(line, "\n", "\n  "))
	}
	return relabel.Errorf(p.Code, "%s", strings.Join(lines, "\n  "))
}
