package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"relabel"
	"relabel/api/client"
)

// DatabaseFlags are the location of the database.
type DatabaseFlags struct {
	Database string `name:"database" env:"DATABASE_URL" placeholder:"URL" help:"Postgres to use. Default: relabel runs its own in the data folder."`
	Data     string `name:"data" env:"RELABEL_DATA" default:"${data}" type:"path" help:"Folder for the local database and for exports."`
}

// ServerFile holds the address of the server that uses this data folder.
func (f DatabaseFlags) ServerFile() string { return filepath.Join(f.Data, "server.url") }

// Local is a database that this process serves for one command.
type Local struct {
	Address     string // of the REST interface
	OwnPostgres bool   // relabel runs the Postgres
	// StartExports builds exports until stop.
	StartExports func(ctx context.Context) (stop func() error, err error)
	Close        func() error
}

// ServeLocal opens the database and serves it on a loopback port.
type ServeLocal func(ctx context.Context, f DatabaseFlags) (*Local, error)

// ClientFlags select the server of a command. Every command but serve, worker and token uses
// REST, so that a script can do the same.
type ClientFlags struct {
	DatabaseFlags
	Server string `env:"RELABEL_SERVER" placeholder:"URL" help:"relabel server to talk to. Default: the one that uses the data folder, or the database itself when none runs."`
	Token  string `env:"RELABEL_TOKEN" placeholder:"TOKEN" help:"Bearer token for a server that requires one."`

	serveLocal ServeLocal
}

// AfterApply receives the function that serves the database if no server runs.
func (f *ClientFlags) AfterApply(serve ServeLocal) error {
	f.serveLocal = serve
	return nil
}

// Session is a client of a relabel server while a command runs.
type Session struct {
	*client.Client
	local *Local // served by this process for one command; nil for a server
	close func() error
}

// Open returns a session of the server at an address, which flag gave.
func Open(address, token, flag string) (*Session, error) {
	c, err := client.New(address, token)
	if err != nil {
		return nil, OnFlag(err, flag)
	}
	c.Waiting = func() { fmt.Fprintln(os.Stderr, "The server does not answer; waiting for it.") }
	return &Session{Client: c, close: func() error { return nil }}, err
}

// connect finds the server, or serves the database in this process for one command.
func (f ClientFlags) connect(ctx context.Context) (*Session, error) {
	if f.Server != "" {
		return Open(f.Server, f.Token, "--server")
	}
	if s := f.Running(ctx); s != nil {
		s.Token = f.Token
		return s, nil
	}
	local, err := f.serveLocal(ctx, f.DatabaseFlags)
	if err != nil {
		return nil, err
	}
	s, err := Open(local.Address, "", "--server")
	if err != nil {
		return nil, errors.Join(err, local.Close())
	}
	s.local, s.close = local, local.Close
	return s, nil
}

// With opens a session, calls use and closes the session.
func (f ClientFlags) With(ctx context.Context, use func(*Session) error) error {
	s, err := f.connect(ctx)
	if err != nil {
		return err
	}
	return errors.Join(needsToken(use(s)), s.close())
}

// needsToken explains how to give a token, after a server refused a request without one.
func needsToken(err error) error {
	if relabel.CodeOf(err) != relabel.CodeUnauthorized {
		return err
	}
	return relabel.Errorf(relabel.CodeUnauthorized, "the server requires a valid token: give one with --token or RELABEL_TOKEN; `relabel token create NAME` creates one on the machine of the database")
}

// Running returns a session of the server that uses this data folder, nil if none does.
func (f DatabaseFlags) Running(ctx context.Context) *Session {
	find := func(base string) string {
		b, err := os.ReadFile(f.ServerFile())
		if err != nil {
			return base
		}
		return strings.TrimSpace(string(b))
	}
	s, err := Open(find(""), "", "--data")
	if err != nil || !s.Alive(ctx) {
		return nil
	}
	s.Find = find
	return s
}

// Alive reports whether the server answers.
func (s *Session) Alive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_, err := s.Live(ctx)
	return err == nil
}

// idOf reads the id of a kind in an argument. The output of a command shows the ids.
func idOf(kind, argument, word, command string) (relabel.ID, error) {
	id, err := relabel.ParseID(kind, word)
	if err != nil {
		err = relabel.Errorf(relabel.CodeInvalid, "%q is not the id of an %s; `relabel %s` shows the ids", word, kind, command).On(argument)
	}
	return id, err
}

// named adds to an error of CodeNotFound what does not exist, and the command that lists what does.
func named[T any](found T, err error, kind, word, command string) (T, error) {
	if relabel.CodeOf(err) == relabel.CodeNotFound {
		err = relabel.Errorf(relabel.CodeNotFound, "no %s %q; `relabel %s` lists all", kind, word, command)
	}
	return found, err
}
