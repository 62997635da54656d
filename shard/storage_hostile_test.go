package shard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"relabel"
)

// endless is a bucket whose list has the same next page again and again, and an object that was not asked for.
type endless struct {
	objectStore
	pages   int
	deleted []string
}

func (e *endless) Delete(_ context.Context, name string) error {
	e.deleted = append(e.deleted, name)
	return nil
}

func (e *endless) List(context.Context, string, string) (names []string, next string, err error) {
	if e.pages++; e.pages > 10 {
		return nil, "", nil
	}
	return []string{"elsewhere/manifest.json", "manifest.json", "p/e/../../manifest.json"}, "again", nil
}

func TestAListThatDoesNotEndFailsTheRemoval(t *testing.T) {
	objects := &endless{}
	b := &bucket{objects: objects, prefix: "p/e/"}
	if err := b.remove(t.Context()); err == nil || objects.pages != 2 {
		t.Errorf("%d pages, %v", objects.pages, err)
	}
	for _, name := range objects.deleted {
		if name != "p/e/manifest.json" {
			t.Errorf("%s is deleted", name)
		}
	}
}

func TestTheLogHasTheBeginOfALongFault(t *testing.T) {
	b := &bucket{}
	for _, cause := range []error{errors.New("begin " + strings.Repeat("x", 1<<20)), errors.Join(errors.New("begin"), errors.New(strings.Repeat("x", 1<<20)))} {
		if text := fmt.Sprint(errors.Unwrap(b.fault(cause))); len(text) > 4000 || !strings.HasPrefix(text, "begin") {
			t.Errorf("%d bytes: %.100s", len(text), text)
		}
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

func TestAManifestIsReadOnlyAsFarAsItMayBeOne(t *testing.T) {
	s := bucketStore("one", "")
	x := bucketExporter(t, s)
	e := export(t, s, x)
	e.FolderID = x.FolderID
	must(t, os.Truncate(filepath.Join(e.Directory, manifestName), mostManifest+1))
	if _, err := x.Manifest(t.Context(), e); relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), "more than 64 MiB") {
		t.Errorf("%v", err)
	}
}
