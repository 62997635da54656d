package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"relabel"
	"relabel/server"
)

// clientFlags say which server a command talks to. Every command but serve, worker
// and token speaks REST, so that what it can do a script can do as well.
type clientFlags struct {
	databaseFlags
	Server string `env:"RELABEL_SERVER" placeholder:"URL" help:"relabel server to talk to. Default: the one that uses the data folder, or the database itself when none runs."`
	Token  string `env:"RELABEL_TOKEN" placeholder:"TOKEN" help:"Bearer token for a server that demands one."`
}

// client speaks to a relabel server.
type client struct {
	base  string
	token string
	here  *database // what is served in this process for one command; nil for a server
	close func() error
	find  func(base string) string // where the server is after it restarted; nil: where it was
}

// connect finds the server, or serves the database in this process for one command.
func (f clientFlags) connect(ctx context.Context) (*client, error) {
	if f.Server != "" {
		if err := checkAddress(f.Server, "--server"); err != nil {
			return nil, err
		}
		return &client{base: strings.TrimSuffix(f.Server, "/"), token: f.Token, close: func() error { return nil }}, nil
	}
	if c := f.running(ctx); c != nil {
		c.token = f.Token
		return c, nil
	}
	return f.serveHere(ctx)
}

// checkAddress refuses what is no web address; flag says where it was given.
func checkAddress(address, flag string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return relabel.Errorf(relabel.CodeInvalid, "%q is no http or https address; write http://HOST:PORT", address).On(flag)
	}
	return nil
}

// running returns a client of the server that uses this data folder, nil where none does.
func (f databaseFlags) running(ctx context.Context) *client {
	find := func(base string) string {
		b, err := os.ReadFile(f.serverFile())
		if err != nil {
			return base
		}
		return strings.TrimSpace(string(b))
	}
	c := &client{base: find(""), find: find, close: func() error { return nil }}
	if c.base == "" {
		return nil
	}
	if !c.alive(ctx) {
		return nil
	}
	return c
}

// alive reports whether the server answers.
func (c *client) alive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return c.call(ctx, http.MethodGet, "/healthz", nil, nil) == nil
}

// serveHere opens the database and serves it on a loopback port of its own.
func (f clientFlags) serveHere(ctx context.Context) (*client, error) {
	db, err := f.openDatabase(ctx)
	if err != nil {
		return nil, err
	}
	c, err := f.serveDatabase(db)
	if err != nil {
		return nil, errors.Join(err, db.Close(ctx))
	}
	inner, stopDeleting := c.close, deleteRuns(ctx, db, quietLog())
	c.here = db
	c.close = func() error {
		err := inner()
		stopDeleting()
		return errors.Join(err, db.Close(ctx))
	}
	return c, nil
}

// serveDatabase serves an open database to a client in this process.
func (f clientFlags) serveDatabase(db *database) (*client, error) {
	listener, err := listen("127.0.0.1:0", "--server")
	if err != nil {
		return nil, err
	}
	flags, err := environmentResources()
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	res, err := flags.open(db)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	site, err := newSite(siteConfig{db: db, data: f.Data, resources: res, metrics: newMetrics(), log: quietLog()})
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	srv := server.NewHTTP(listener.Addr().String(), site)
	go func() { _ = srv.Serve(listener) }() // ends with ErrServerClosed at Close
	return &client{base: "http://" + listener.Addr().String(), close: srv.Close}, nil
}

// get asks for path and decodes the answer into out.
func (c *client) get(ctx context.Context, path string, out any) error {
	return c.call(ctx, http.MethodGet, path, nil, out)
}

// post sends in as JSON and decodes the answer into out.
func (c *client) post(ctx context.Context, path string, in, out any) error {
	return c.change(ctx, http.MethodPost, path, in, out)
}

// change is post with another method.
func (c *client) change(ctx context.Context, method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	return c.call(ctx, method, path, body, out)
}

// postJSONL sends a file of JSON lines.
func (c *client) postJSONL(ctx context.Context, path string, lines []byte, out any) error {
	return c.send(ctx, http.MethodPost, path, "application/x-ndjson", lines, out)
}

func (c *client) call(ctx context.Context, method, path string, body []byte, out any) error {
	return c.send(ctx, method, path, "application/json", body, out)
}

func (c *client) send(ctx context.Context, method, path, contentType string, body []byte, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", contentType)
		req.Header.Set("Idempotency-Key", relabel.NewID().String())
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return noAnswer(c, err)
	}
	defer res.Body.Close()
	if res.StatusCode >= 400 {
		return problem(res)
	}
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(res.Body).Decode(out); err != nil {
		return relabel.Errorf(relabel.CodeUnavailable, "what answers at %s is no relabel server, or the line broke", c.base).Because(err)
	}
	return nil
}

// problem turns a problem+json answer into the error that the server meant.
func problem(res *http.Response) error {
	var p struct {
		Code   relabel.Code `json:"code"`
		Detail string       `json:"detail"`
		Errors []struct {
			Message  string `json:"message"`
			Location string `json:"location"`
		} `json:"errors"`
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil || json.Unmarshal(body, &p) != nil {
		return relabel.Errorf(relabel.CodeInternal, "the server answered %s", res.Status)
	}
	if res.StatusCode == http.StatusUnauthorized && p.Code == relabel.CodeUnauthorized {
		return relabel.Errorf(p.Code, "the server demands a token that it knows: give one with --token or RELABEL_TOKEN; `relabel token create NAME` makes one, beside the database")
	}
	lines := []string{p.Detail}
	if len(p.Errors) == 1 {
		p.Errors = nil // the detail says it
	}
	for _, e := range p.Errors {
		lines = append(lines, strings.TrimPrefix(e.Location+": "+e.Message, ": "))
	}
	return relabel.Errorf(p.Code, "%s", strings.Join(lines, "\n  "))
}

// noAnswer is the error of a server that could not be reached.
func noAnswer(c *client, err error) error {
	return relabel.Errorf(relabel.CodeUnavailable, "no answer from %s", c.base).Because(err)
}

// list reads every page of a list under path into items.
func list[T any](ctx context.Context, c *client, path string) ([]T, error) {
	var all []T
	sep := "?"
	if strings.Contains(path, "?") {
		sep = "&"
	}
	for next := path + sep + "limit=500"; ; {
		var page struct {
			Items []T    `json:"items"`
			Next  string `json:"next"`
		}
		if err := c.get(ctx, next, &page); err != nil {
			return nil, err
		}
		if all = append(all, page.Items...); page.Next == "" {
			return all, nil
		}
		next = path + sep + "limit=500&after=" + url.QueryEscape(page.Next)
	}
}
