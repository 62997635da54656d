package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel/shard/buckettest"
)

// realS3 returns a bucket of a real server.
func realS3(t *testing.T) (*S3, *buckettest.S3) {
	t.Helper()
	clean(t)
	buckettest.UseKeys(t)
	server := buckettest.StartS3(t, "shards")
	s, err := OpenS3(Place{Bucket: "shards", Options: url.Values{"region": {"us-east-1"}, "endpoint": {server.Endpoint()}}})
	must(t, err)
	return s, server
}

// store is what both protocols have.
type store interface {
	Put(ctx context.Context, name string, file io.ReaderAt, size int64) error
	Size(ctx context.Context, name string) (int64, error)
	Open(ctx context.Context, name string) (*File, error)
	Delete(ctx context.Context, name string) error
	List(ctx context.Context, prefix, from string) (names []string, next string, err error)
}

// keepsNames writes, lists, reads and deletes objects with odd names.
func keepsNames(t *testing.T, s store) {
	t.Helper()
	ctx := t.Context()
	for _, name := range oddNames {
		must(t, s.Put(ctx, "p q/"+name, strings.NewReader(name), int64(len(name))))
	}
	names, next, err := s.List(ctx, "p q/", "")
	must(t, err)
	want := make([]string, len(oddNames))
	for i, name := range oddNames {
		want[i] = "p q/" + name
	}
	slices.Sort(names)
	if slices.Sort(want); !slices.Equal(names, want) || next != "" {
		t.Errorf("listed %q, then %q; want %q", names, next, want)
	}
	for _, name := range oddNames {
		f, err := s.Open(ctx, "p q/"+name)
		must(t, err)
		if got := read(t, f); string(got) != name {
			t.Errorf("%q has %q", name, got)
		}
		if size, err := s.Size(ctx, "p q/"+name); err != nil || size != int64(len(name)) {
			t.Errorf("%q has size %d, %v", name, size, err)
		}
		must(t, s.Delete(ctx, "p q/"+name))
		if _, err := s.Size(ctx, "p q/"+name); !IsMissing(err) {
			t.Errorf("%q after its removal: %v", name, err)
		}
	}
}

// keepsParts writes a file that is larger than a part and reads it from several places.
func keepsParts(t *testing.T, s store) {
	t.Helper()
	text := bytesOf(2*partSize + 12345)
	must(t, s.Put(t.Context(), "large", bytes.NewReader(text), int64(len(text))))
	f, err := s.Open(t.Context(), "large")
	must(t, err)
	for _, at := range []int64{partSize - 3, 0, int64(len(text)) - 10} {
		_, err := f.Seek(at, io.SeekStart)
		must(t, err)
		got := make([]byte, 10)
		if _, err := io.ReadFull(f, got); err != nil || !bytes.Equal(got, text[at:at+10]) {
			t.Errorf("at %d: %v, %v", at, got, err)
		}
	}
	if n, err := f.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("after the end: %d, %v", n, err)
	}
	if _, err := f.Seek(-1, io.SeekStart); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("before the start: %v", err)
	}
	_, err = f.Seek(0, io.SeekStart)
	must(t, err)
	if !bytes.Equal(read(t, f), text) {
		t.Error("its bytes differ")
	}
}

func TestS3KeepsObjectsWithOddNames(t *testing.T) {
	s, _ := realS3(t)
	keepsNames(t, s)
}

func TestS3KeepsAFileLargerThanAPart(t *testing.T) {
	s, _ := realS3(t)
	keepsParts(t, s)
	must(t, s.Put(t.Context(), "empty", bytes.NewReader(nil), 0))
	f, err := s.Open(t.Context(), "empty")
	must(t, err)
	if text := read(t, f); len(text) != 0 {
		t.Errorf("an empty file has %q", text)
	}
}

// breaking is a file that cannot be read from a byte on.
type breaking struct {
	io.ReaderAt
	from int64
}

var errBroken = errors.New("the disk is broken")

func (b breaking) ReadAt(p []byte, off int64) (int, error) {
	if off >= b.from {
		return 0, errBroken
	}
	return b.ReaderAt.ReadAt(p, off)
}

func TestAFailedUploadToS3LeavesNoParts(t *testing.T) {
	s, server := realS3(t)
	size := int64(2*partSize + 1)
	err := s.Put(t.Context(), "large", breaking{bytes.NewReader(bytesOf(int(size))), 2 * partSize}, size)
	if !errors.Is(err, errBroken) {
		t.Errorf("it failed for %v", err)
	}
	must(t, filepath.WalkDir(server.Folder, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			t.Errorf("%s remains", name)
		}
		return err
	}))
}

func TestS3ListsAllPages(t *testing.T) {
	s, server := realS3(t)
	folder := filepath.Join(server.Folder, "shards", "many")
	must(t, os.Mkdir(folder, 0o755))
	const count = 1001 // more than a page
	for i := range count {
		must(t, os.WriteFile(filepath.Join(folder, fmt.Sprint(i)), nil, 0o600))
	}
	all, pages := map[string]bool{}, 0
	for from := ""; pages == 0 || from != ""; pages++ {
		names, next, err := s.List(t.Context(), "many/", from)
		must(t, err)
		for _, name := range names {
			all[name] = true
		}
		from = next
	}
	if len(all) != count || pages != 2 {
		t.Errorf("%d names on %d pages", len(all), pages)
	}
}

// joined answers a multipart upload whose completion fails as often as failures says, after a status of success.
func joined(failures int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, q *http.Request) {
		switch query := q.URL.Query(); {
		case query.Has("uploads"):
			_, _ = io.WriteString(w, "<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>")
		case q.Method == http.MethodPut:
			w.Header().Set("ETag", `"part`+query.Get("partNumber")+`"`)
		case q.Method == http.MethodPost && failures != 0:
			failures--
			_, _ = io.WriteString(w, "<?xml version=\"1.0\"?>\n  <Error><Code>InternalError</Code><Message>again</Message></Error>")
		case q.Method == http.MethodPost:
			_, _ = io.WriteString(w, "<CompleteMultipartUploadResult/>")
		case q.Method == http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		}
	}
}

func TestACompletionThatFailsLateIsRepeated(t *testing.T) {
	for failures, want := range map[int][]string{1: {"POST", "POST"}, -1: {"POST", "POST", "POST", "POST", "DELETE"}} {
		clean(t)
		buckettest.UseKeys(t)
		server := record(t, false, joined(failures))
		s, err := OpenS3(Place{Bucket: "shards", Options: url.Values{"region": {"us-east-1"}, "endpoint": {server.URL}}})
		must(t, err)
		err = s.Put(t.Context(), "large", bytes.NewReader(bytesOf(partSize+1)), partSize+1)
		var refused *Error
		if failures < 0 && (!errors.As(err, &refused) || refused.Code != "InternalError") || failures > 0 && err != nil {
			t.Errorf("%d failures: %v", failures, err)
		}
		var got []string
		for _, q := range server.all()[3:] {
			got = append(got, q.Method)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d failures: %v, want %v", failures, got, want)
		}
	}
}

func TestADamagedFileIsNotReadToItsEnd(t *testing.T) {
	for sum, damaged := range map[string]bool{"NhCmhg==": false, "AAAAAA==": true, "AAAAAA==-2": false, "": false} { // of hello
		clean(t)
		buckettest.UseKeys(t)
		server := record(t, false, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Amz-Checksum-Crc32", sum)
			_, _ = io.WriteString(w, "hello")
		})
		s, err := OpenS3(Place{Bucket: "shards", Options: url.Values{"region": {"us-east-1"}, "endpoint": {server.URL}}})
		must(t, err)
		f, err := s.Open(t.Context(), "x")
		must(t, err)
		if _, err := io.ReadAll(f); (err != nil) != damaged {
			t.Errorf("%q: %v", sum, err)
		}
		must(t, f.Close())
	}
}
