package localpg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"relabel"
	"relabel/store"
)

// Database is an open store and its server, if relabel runs it.
type Database struct {
	*store.Store
	Local *Server // nil for another database
}

// Exists reports whether the data folder has a local database.
func Exists(data string) bool {
	_, err := os.Stat(urlFile(data))
	return !errors.Is(err, fs.ErrNotExist)
}

// Open opens and migrates the database at url. Without a URL it starts the local one of the data
// folder, which is created if needed.
func Open(ctx context.Context, data, url string) (*Database, error) {
	if err := os.MkdirAll(data, 0o755); err != nil {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "the data folder %s cannot be created; choose another with --data", data).Because(err)
	}
	if url != "" {
		return open(ctx, url, unreachable)
	}
	local, err := Start(ctx, data)
	if err != nil {
		return nil, err
	}
	db, err := open(ctx, local.URL(), "the local Postgres does not answer")
	if err != nil {
		return nil, errors.Join(err, local.Stop(context.WithoutCancel(ctx)))
	}
	db.Local = local
	if err := os.WriteFile(urlFile(data), []byte(local.URL()+"\n"), 0o600); err != nil {
		err = relabel.Errorf(relabel.CodeUnavailable, "the address of the database cannot be stored; remove what is at %s", urlFile(data)).Because(err)
		return nil, errors.Join(err, db.Close(ctx))
	}
	return db, nil
}

// Join opens a database that another process runs: the one at url, or without a URL the local one
// of a server that uses the data folder.
func Join(ctx context.Context, data, url string) (*Database, error) {
	if url != "" {
		return open(ctx, url, unreachable)
	}
	b, err := os.ReadFile(urlFile(data))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "no database: set DATABASE_URL, or start `relabel serve --data %s` first", data)
	}
	if err != nil {
		return nil, err
	}
	return open(ctx, strings.TrimSpace(string(b)),
		fmt.Sprintf("nothing serves the data folder %s: start `relabel serve --data %s` first, or set DATABASE_URL", data, data))
}

// unreachable is the advice if no Postgres answers at DATABASE_URL.
const unreachable = "cannot reach Postgres at DATABASE_URL; start it, correct the URL, or unset it to let relabel run one"

// open opens and migrates a database. advice is the error's text if it cannot be reached.
func open(ctx context.Context, url, advice string) (*Database, error) {
	s, err := store.Open(ctx, url)
	if relabel.CodeOf(err) == relabel.CodeUnavailable {
		err = relabel.Errorf(relabel.CodeUnavailable, "%s", advice).Because(err)
	}
	if err != nil {
		return nil, err
	}
	if err := s.Migrate(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return &Database{Store: s}, nil
}

// urlFile is the file with the URL of the local database, for other processes on this machine.
func urlFile(data string) string { return filepath.Join(data, "database.url") }

// Close closes the store and stops the local server.
func (d *Database) Close(ctx context.Context) error {
	d.Store.Close()
	if d.Local == nil {
		return nil
	}
	return d.Local.Stop(context.WithoutCancel(ctx))
}
