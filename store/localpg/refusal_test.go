package localpg

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
)

// Tests in this file change the environment of the process, so they are not parallel.

func TestTheErrorWithoutAPostgresDescribesWhatToDo(t *testing.T) {
	places := usualPlaces
	usualPlaces = nil
	t.Cleanup(func() { usualPlaces = places })
	t.Setenv("PATH", t.TempDir())
	_, err := Start(context.Background(), folder(t))
	if relabel.CodeOf(err) != relabel.CodeUnavailable || !strings.Contains(err.Error(), "apt-get install postgresql") || !strings.Contains(err.Error(), "DATABASE_URL") {
		t.Errorf("the error is %v", err)
	}
}

func TestAFolderOfAnotherVersionIsNotChanged(t *testing.T) {
	dir := folder(t)
	data := filepath.Join(dir, "postgres", "data")
	must(t, os.MkdirAll(data, 0o700))
	must(t, os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte("9999\n"), 0o600))
	_, err := Start(context.Background(), dir)
	if relabel.CodeOf(err) != relabel.CodeUnavailable || !strings.Contains(err.Error(), "PostgreSQL 9999") {
		t.Errorf("the error is %v", err)
	}
	release, err := lockFolder(filepath.Join(dir, "postgres.lock"))
	must(t, err)
	must(t, release()) // the folder is not locked any more
}

func TestTheErrorNamesAFolderOutOfReach(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root runs Postgres as another user")
	}
	closed := t.TempDir() // closed to other users
	must(t, os.Chmod(closed, 0o700))
	_, err := Start(context.Background(), filepath.Join(closed, "data"))
	if relabel.CodeOf(err) != relabel.CodeUnavailable || !strings.Contains(err.Error(), closed) || !strings.Contains(err.Error(), "chmod o+x") {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Stat(filepath.Join(closed, "data", "postgres")); err == nil {
		t.Error("a folder was created there")
	}
}

func TestTheNewestPostgresIsFound(t *testing.T) {
	old := usualPlaces
	t.Cleanup(func() { usualPlaces = old })
	dir := t.TempDir()
	for _, version := range []string{"9", "14", "17", "16"} {
		bin := filepath.Join(dir, version, "bin")
		must(t, os.MkdirAll(bin, 0o755))
		for _, name := range []string{"postgres", "initdb"} {
			must(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho 'postgres (PostgreSQL) "+version+".3'\n"), 0o755))
		}
	}
	must(t, os.MkdirAll(filepath.Join(dir, "18", "bin"), 0o755)) // empty
	usualPlaces = []string{filepath.Join(dir, "*", "bin")}
	t.Setenv("PATH", "/bin")
	for asked, want := range map[int]int{0: 17, 14: 14, 9: 9} {
		if b, err := findBinaries(asked); err != nil || b.major != want {
			t.Errorf("asked for %d: %+v, %v", asked, b, err)
		}
	}
}
