package shard

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
	"testing/synctest"

	"relabel"
)

// endless is a bucket whose list has the same next page again and again.
type endless struct {
	objectStore
	pages int
}

func (*endless) Delete(context.Context, string) error { return nil }

func (e *endless) List(context.Context, string, string) (names []string, next string, err error) {
	if e.pages++; e.pages > 10 {
		return nil, "", nil
	}
	return []string{"elsewhere/manifest.json"}, "again", nil
}

func TestAListThatDoesNotEndFailsTheRemoval(t *testing.T) {
	objects := &endless{}
	b := &bucket{objects: objects, prefix: "p/e/"}
	if err := b.remove(t.Context()); err == nil || objects.pages != 2 {
		t.Errorf("%d pages, %v", objects.pages, err)
	}
}

// stalling is storage whose files never have a byte.
type stalling struct{ storage }

func (stalling) open(ctx context.Context, _ string) (relabel.FileReader, error) {
	return stalledFile{ctx}, nil
}

type stalledFile struct{ context.Context }

func (f stalledFile) Read([]byte) (int, error) {
	<-f.Done()
	return 0, f.Err()
}

func (stalledFile) Seek(int64, int) (int64, error) { return 0, nil }
func (stalledFile) Stat() (fs.FileInfo, error)     { return nil, nil }
func (stalledFile) Close() error                   { return nil }

func TestAFileThatStallsIsNotCopiedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		local := filepath.Join(t.TempDir(), "file")
		err := copyOut(t.Context(), stalling{}, relabel.ExportFile{Path: "file", Bytes: 5}, local)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}
