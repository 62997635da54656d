package storetest

import (
	"context"
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"

	"relabel/store"
)

// newInstance gives a restored database its own id: see [store.Store.Instance].
const newInstance = "UPDATE " + dumpedSchema + ".instance SET id = gen_random_uuid();"

// Migrated creates a schema with this binary's tables for the test and returns the URL that
// names it. The migrations run once per process; each schema is then restored from a dump
// of the first, which takes a third of the time. Without pg_dump each one is migrated.
func Migrated(t testing.TB) string {
	t.Helper()
	address, schema := newSchema(t)
	text, err := migratedText()
	if err != nil {
		t.Fatalf("migrating the tests' schema: %v", err)
	}
	if text == "" {
		err = migrate(address)
	} else {
		err = execSQL(address, strings.ReplaceAll(text+newInstance, dumpedSchema, schema))
	}
	if err != nil {
		t.Fatalf("migrating the test's schema: %v", err)
	}
	return address
}

// notRestored matches the lines of a dump that only psql understands, and the one that creates
// the schema.
var notRestored = regexp.MustCompile(`(?m)^(\\|CREATE SCHEMA ).*\n?`)

// migratedText returns the SQL that restores a migrated schema; empty if pg_dump is missing
// or older than the server.
var migratedText = sync.OnceValues(func() (text string, err error) {
	base, err := server()
	if err != nil {
		return "", err
	}
	name := newName()
	if err := execSQL(base, "CREATE SCHEMA "+name); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, execSQL(base, "DROP SCHEMA "+name+" CASCADE")) }()
	if err := migrate(withSchema(base, name)); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	dump, _ := exec.CommandContext(ctx, "pg_dump", "--no-owner", "--inserts", "--schema="+name, base).Output()
	return strings.ReplaceAll(notRestored.ReplaceAllString(string(dump), ""), name, dumpedSchema), nil
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
