package bench

import (
	"context"
	"errors"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"relabel"
	"relabel/store"
	"relabel/store/localpg"
)

// postgres is the server of this process's benchmarks. Unlike that of tests it syncs to
// disk: commits are what is measured.
var postgres struct {
	sync.Mutex
	server *localpg.Server
	dir    string
}

// databaseURL returns the URL of an empty, migrated schema of the benchmark's own.
func databaseURL(b *testing.B) string {
	b.Helper()
	postgres.Lock()
	defer postgres.Unlock()
	ctx := context.Background()
	if postgres.server == nil {
		dir, err := os.MkdirTemp("", "relabel-bench-")
		must(b, err)
		must(b, os.Chmod(dir, 0o755)) // the server runs as another user where this one is root
		postgres.dir = dir
		postgres.server, err = localpg.Start(ctx, dir, "max_connections=400", "shared_buffers=512MB", "max_wal_size=4GB")
		must(b, err)
	}
	name := "b" + strings.ReplaceAll(relabel.NewID().String(), "-", "")
	conn, err := pgx.Connect(ctx, postgres.server.URL())
	must(b, err)
	_, err = conn.Exec(ctx, "CREATE SCHEMA "+name)
	must(b, errors.Join(err, conn.Close(ctx)))
	u, err := url.Parse(postgres.server.URL())
	must(b, err)
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}

// openStore opens and migrates the database at url until the benchmark ends.
func openStore(b *testing.B, url string) *store.Store {
	b.Helper()
	s, err := store.Open(context.Background(), url)
	must(b, err)
	b.Cleanup(s.Close)
	must(b, s.Migrate(context.Background()))
	return s
}

// one reads one value.
func one[T any](b *testing.B, s *store.Store, sql string, args ...any) T {
	b.Helper()
	var v T
	must(b, s.Pool().QueryRow(context.Background(), sql, args...).Scan(&v))
	return v
}

func stopPostgres() error {
	if postgres.server == nil {
		return nil
	}
	return errors.Join(postgres.server.Stop(context.Background()), os.RemoveAll(postgres.dir))
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
