package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"relabel"
	"relabel/api/client"
	"relabel/server"
)

// clientFlags say which server a command talks to. Every command but serve, worker
// and token speaks REST, so that what it can do a script can do as well.
type clientFlags struct {
	databaseFlags
	Server string `env:"RELABEL_SERVER" placeholder:"URL" help:"relabel server to talk to. Default: the one that uses the data folder, or the database itself when none runs."`
	Token  string `env:"RELABEL_TOKEN" placeholder:"TOKEN" help:"Bearer token for a server that demands one."`
}

// session is a client of a relabel server while a command runs.
type session struct {
	*client.Client
	here  *database // what is served in this process for one command; nil for a server
	close func() error
}

// open returns a session of the server at an address; flag says where that was given.
func open(address, token, flag string) (*session, error) {
	c, err := client.New(address, token)
	var wrong *relabel.Error
	if errors.As(err, &wrong) {
		return nil, wrong.On(flag)
	}
	c.Waiting = func() { fmt.Fprintln(os.Stderr, "The server does not answer; waiting for it.") }
	return &session{Client: c, close: func() error { return nil }}, err
}

// connect finds the server, or serves the database in this process for one command.
func (f clientFlags) connect(ctx context.Context) (*session, error) {
	if f.Server != "" {
		return open(f.Server, f.Token, "--server")
	}
	if s := f.running(ctx); s != nil {
		s.Token = f.Token
		return s, nil
	}
	return f.serveHere(ctx)
}

// with connects, calls use and closes.
func (f clientFlags) with(ctx context.Context, use func(*session) error) error {
	s, err := f.connect(ctx)
	if err != nil {
		return err
	}
	return errors.Join(needsToken(use(s)), s.close())
}

// needsToken says, of a server's refusal for want of a token, where a command takes one.
func needsToken(err error) error {
	if relabel.CodeOf(err) != relabel.CodeUnauthorized {
		return err
	}
	return relabel.Errorf(relabel.CodeUnauthorized, "the server demands a token that it knows: give one with --token or RELABEL_TOKEN; `relabel token create NAME` makes one, beside the database")
}

// running returns a session of the server that uses this data folder, nil where none does.
func (f databaseFlags) running(ctx context.Context) *session {
	find := func(base string) string {
		b, err := os.ReadFile(f.serverFile())
		if err != nil {
			return base
		}
		return strings.TrimSpace(string(b))
	}
	s, err := open(find(""), "", "--data")
	if err != nil || !s.alive(ctx) {
		return nil
	}
	s.Find = find
	return s
}

// alive reports whether the server answers.
func (s *session) alive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_, err := s.Live(ctx)
	return err == nil
}

// serveHere opens the database and serves it on a loopback port of its own.
func (f clientFlags) serveHere(ctx context.Context) (*session, error) {
	db, err := f.openDatabase(ctx)
	if err != nil {
		return nil, err
	}
	c, err := f.serveDatabase(db)
	if err != nil {
		return nil, errors.Join(err, db.Close(ctx))
	}
	deletions, err := newDeletions(db, quietLog())
	if err != nil {
		return nil, errors.Join(err, c.close(), db.Close(ctx))
	}
	deletions.Start(ctx)
	inner := c.close
	c.here = db
	c.close = func() error {
		err := inner()
		deletions.Stop()
		return errors.Join(err, db.Close(ctx))
	}
	return c, nil
}

// serveDatabase serves an open database to a client in this process.
func (f clientFlags) serveDatabase(db *database) (*session, error) {
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
	s, err := open("http://"+listener.Addr().String(), "", "--server")
	if err != nil {
		return nil, errors.Join(err, srv.Close())
	}
	s.close = srv.Close
	return s, nil
}
