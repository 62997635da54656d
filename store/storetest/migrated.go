package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/url"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"relabel/migrations"
	"relabel/store"
)

// newInstance gives a copied database its own id: see [store.Store.Instance].
const newInstance = "UPDATE instance SET id = gen_random_uuid()"

// Migrated creates a database with this binary's tables for the test and returns its URL. It is a
// copy of a template that is migrated once per server, which takes a fifth of the time.
func Migrated(t testing.TB) string {
	t.Helper()
	base := serverURL(t)
	template, err := migratedTemplate()
	if err != nil {
		t.Fatalf("migrating the tests' template: %v", err)
	}
	name := newName()
	must(t, execSQL(base, "CREATE DATABASE "+name+" TEMPLATE "+template+copying()))
	t.Cleanup(func() { must(t, execSQL(base, "DROP DATABASE "+name+" WITH (FORCE)")) })
	address := withDatabase(base, name)
	must(t, execSQL(address, newInstance))
	return address
}

// withDatabase names another database in the server's URL, which [server] has checked.
func withDatabase(base, name string) string {
	u, _ := url.Parse(base)
	u.Path = "/" + name
	q := u.Query()
	q.Set("pool_max_conns", "8")
	u.RawQuery = q.Encode()
	return u.String()
}

// migratedTemplate returns the name of a database with the tables of this binary's migrations; the
// first process that needs it makes it.
var migratedTemplate = sync.OnceValues(func() (string, error) {
	base, err := server()
	if err != nil {
		return "", err
	}
	digest, err := migrationsDigest()
	if err != nil {
		return "", err
	}
	name := "template_" + digest
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	conn, err := pgx.Connect(ctx, base)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(ctx) }()
	// The lock ends with the connection.
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended($1, 0))", name); err != nil {
		return "", err
	}
	return name, makeTemplate(ctx, conn, base, name)
})

// makeTemplate makes the template unless it exists. It gets its name last: a process that is killed
// meanwhile leaves none that is incomplete.
func makeTemplate(ctx context.Context, conn *pgx.Conn, base, name string) error {
	var there bool
	err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)", name).Scan(&there)
	if err != nil || there {
		return err
	}
	unfinished := newName()
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+unfinished); err != nil {
		return err
	}
	if err := migrate(withDatabase(base, unfinished)); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "ALTER DATABASE "+unfinished+" RENAME TO "+name)
	return err
}

// migrationsDigest names the content of all migrations.
func migrationsDigest() (string, error) {
	sum := sha256.New()
	names, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		return "", err
	}
	for _, name := range names {
		text, err := fs.ReadFile(migrations.FS, name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

// copying makes Postgres 15 and later copy the template's files, as earlier versions do: its default
// writes them to the log.
var copying = sync.OnceValue(func() string {
	base, err := server()
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	conn, err := pgx.Connect(ctx, base)
	if err != nil {
		return ""
	}
	defer func() { _ = conn.Close(ctx) }()
	var version string
	_ = conn.QueryRow(ctx, "SHOW server_version_num").Scan(&version)
	if number, err := strconv.Atoi(version); err != nil || number < 150000 {
		return ""
	}
	return " STRATEGY file_copy"
})

func migrate(address string) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	s, err := store.Open(ctx, address)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Migrate(ctx)
}
