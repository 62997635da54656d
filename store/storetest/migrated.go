package storetest

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"relabel/store"
)

// dumpedAs replaces the schema's name in the text of the migrated schema.
const dumpedAs = "schema_of_the_test"

// newInstance gives a restored database an id of its own: see [store.Store.Instance].
const newInstance = "UPDATE " + dumpedAs + ".instance SET id = gen_random_uuid();"

// Migrated makes a schema with this binary's tables for the test and returns the URL that
// names it. The migrations run once per process; each schema is then restored from a dump
// of the first, which takes a third of the time. Without pg_dump each one is migrated.
func Migrated(t testing.TB) string {
	t.Helper()
	address := Schema(t)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	text, err := migratedText()
	if err != nil {
		t.Fatalf("migrating the tests' schema: %v", err)
	}
	if text == "" {
		err = migrate(ctx, address)
	} else {
		err = restore(ctx, address, strings.ReplaceAll(text+newInstance, dumpedAs, schemaOf(address)))
	}
	if err != nil {
		t.Fatalf("migrating the test's schema: %v", err)
	}
	return address
}

// migratedText is the SQL that restores a migrated schema; empty if pg_dump is missing
// or older than the server.
var migratedText = sync.OnceValues(func() (string, error) {
	base, err := server()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	name := newName()
	if err := administer(ctx, base, "CREATE SCHEMA "+name); err != nil {
		return "", err
	}
	address := withSchema(base, name)
	err = migrate(ctx, address)
	var text []byte
	if err == nil {
		text, _ = exec.CommandContext(ctx, "pg_dump", "--no-owner", "--inserts", "--schema="+name, base).Output()
	}
	if dropErr := administer(ctx, base, "DROP SCHEMA "+name+" CASCADE"); err == nil {
		err = dropErr
	}
	return strings.ReplaceAll(statements(string(text)), name, dumpedAs), err
})

// statements removes from a dump what only psql understands and what makes the schema.
func statements(dump string) string {
	var kept strings.Builder
	for line := range strings.Lines(dump) {
		if !strings.HasPrefix(line, `\`) && !strings.HasPrefix(line, "CREATE SCHEMA ") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

func migrate(ctx context.Context, address string) error {
	s, err := store.Open(ctx, address)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Migrate(ctx)
}

// restore executes SQL on a connection of its own: a dump changes the search path.
func restore(ctx context.Context, address, sql string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	options := u.Query()
	options.Del("pool_max_conns")
	u.RawQuery = options.Encode()
	conn, err := pgx.Connect(ctx, u.String())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
		return fmt.Errorf("restoring a dump: %w", err)
	}
	return nil
}

// schemaOf returns the schema that an address names.
func schemaOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Query().Get("search_path")
}
