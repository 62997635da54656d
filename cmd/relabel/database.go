package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"relabel"
	"relabel/cli"
	"relabel/store"
	"relabel/store/localpg"
)

// database is an open store and, if relabel runs it, its server.
type database struct {
	*store.Store
	local *localpg.Server // nil for another database
}

// openDatabase opens and migrates the database. Without a URL it starts a local one.
func openDatabase(ctx context.Context, f cli.DatabaseFlags) (*database, error) {
	if err := os.MkdirAll(f.Data, 0o755); err != nil {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "the data folder %s cannot be created; choose another with --data", f.Data).Because(err)
	}
	url := f.Database
	var local *localpg.Server
	if url == "" {
		if _, err := os.Stat(urlFile(f)); errors.Is(err, fs.ErrNotExist) { // perhaps the folder is misspelt
			fmt.Fprintf(os.Stderr, "%s has no database yet: creating one.\n", f.Data)
		}
		var err error
		if local, err = localpg.Start(ctx, f.Data); err != nil {
			return nil, err
		}
		url = local.URL()
	}
	s, err := store.Open(ctx, url)
	if err == nil {
		if err = s.Migrate(ctx); err == nil {
			return &database{Store: s, local: local}, publishURL(f, url, local)
		}
		s.Close()
	}
	if local != nil {
		return nil, errors.Join(err, local.Stop(context.WithoutCancel(ctx)))
	}
	return nil, explainURL(err)
}

// explainURL adds what to do if no Postgres answers at DATABASE_URL.
func explainURL(err error) error {
	if relabel.CodeOf(err) != relabel.CodeUnavailable {
		return err
	}
	return relabel.Errorf(relabel.CodeUnavailable, "cannot reach Postgres at DATABASE_URL; start it, correct the URL, or unset it to let relabel run one").Because(err)
}

// Close closes the store and stops the local server.
func (d *database) Close(ctx context.Context) error {
	d.Store.Close()
	if d.local == nil {
		return nil
	}
	return d.local.Stop(context.WithoutCancel(ctx))
}

// urlFile is the file with the URL of the local database, for workers on this machine.
func urlFile(f cli.DatabaseFlags) string { return filepath.Join(f.Data, "database.url") }

// publishURL writes urlFile for a local database.
func publishURL(f cli.DatabaseFlags, url string, local *localpg.Server) error {
	if local == nil {
		return nil
	}
	return os.WriteFile(urlFile(f), []byte(url+"\n"), 0o600)
}

// joinDatabase opens a database that a server runs and migrates: DATABASE_URL, or the
// local one of a server on this machine.
func joinDatabase(ctx context.Context, f cli.DatabaseFlags) (*database, error) {
	url := f.Database
	if url == "" {
		b, err := os.ReadFile(urlFile(f))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, relabel.Errorf(relabel.CodeUnavailable, "no database: set DATABASE_URL, or start `relabel serve --data %s` first", f.Data)
		}
		if err != nil {
			return nil, err
		}
		url = strings.TrimSpace(string(b))
	}
	s, err := store.Open(ctx, url)
	switch {
	case err != nil && f.Database != "":
		return nil, explainURL(err)
	case err != nil:
		return nil, relabel.Errorf(relabel.CodeUnavailable, "nothing serves the data folder %s: start `relabel serve --data %s` first, or set DATABASE_URL", f.Data, f.Data).Because(err)
	}
	if err := s.Migrate(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return &database{Store: s}, nil
}
