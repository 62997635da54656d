package hub_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"relabel"
	"relabel/shard/hub"
	"relabel/shard/hub/hubtest"
)

func TestFilesOfARevisionAreReadFromAnyPlace(t *testing.T) {
	s := hubtest.Start(t)
	want := round(1)
	commit := push(t, s, "hf://acme/set@b/in", set(t, want))
	push(t, s, "hf://acme/set@b/in", set(t, round(2)))
	at := place(t, "hf://acme/set/in").At(commit)
	for _, name := range []string{"linear/00000.parquet", "README.md"} {
		f, err := client(s).Open(context.Background(), at, name)
		if err != nil {
			t.Fatal(err)
		}
		text := want[name]
		for _, from := range []int{len(text) - 4, 0, 7} {
			got := make([]byte, 4)
			if _, err := f.Seek(int64(from), io.SeekStart); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(f, got); err != nil || string(got) != text[from:from+4] {
				t.Errorf("%s at %d is %q: %v", name, from, got, err)
			}
		}
		if info, err := f.Stat(); err != nil || info.Size() != int64(len(text)) || f.Close() != nil {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if _, err := client(s).Open(context.Background(), at, "linear/00009.parquet"); relabel.CodeOf(err) != relabel.CodeNotFound {
		t.Error(err)
	}
	dir := t.TempDir()
	for range 2 {
		if err := client(s).Fetch(context.Background(), at, dir, func(string) bool { return true }); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(s.Requests("GET /objects/" + sum(t, dir, "linear/00000.parquet"))); got != 4 { // three ranges and one fetch
		t.Errorf("the file was read %d times", got)
	}
	for name, text := range want {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != text {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func sum(t *testing.T, dir, name string) string {
	t.Helper()
	f, err := hub.Describe(dir, name)
	if err != nil {
		t.Fatal(err)
	}
	return f.SHA256
}

// A Hub that sends more than it said, or lists files without end, cannot fill the disk or the memory.
func TestAnAnswerWithoutAnEndIsCutOff(t *testing.T) {
	s := hubtest.Start(t)
	files := set(t, round(1))
	commit := push(t, s, "hf://acme/data", files)
	endless := func(w io.Writer, text string, most int) (sent int) {
		for piece := []byte(strings.Repeat(text, 64<<10/len(text))); sent < most; sent += len(piece) {
			if _, err := w.Write(piece); err != nil {
				return sent
			}
		}
		return sent
	}
	var sent atomic.Int64
	lying := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/resolve/") && r.Method == http.MethodGet {
			sent.Add(int64(endless(w, "rows", 256<<20)))
			return
		}
		(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
			at, _ := url.Parse(s.URL)
			p.SetURL(at)
		}, ModifyResponse: func(a *http.Response) error {
			a.Header.Set("Link", strings.ReplaceAll(a.Header.Get("Link"), s.URL, "http://"+r.Host))
			return nil
		}}).ServeHTTP(w, r)
	}))
	t.Cleanup(lying.Close)
	c := client(s)
	c.Endpoint = lying.URL
	p := place(t, "hf://acme/data@"+commit)
	dir := filepath.Join(t.TempDir(), "export")
	if err := c.FetchExport(context.Background(), p, dir, nil); err == nil || !strings.Contains(err.Error(), "more bytes than") {
		t.Errorf("fetched: %v", err)
	}
	file, err := c.Open(context.Background(), p, "linear/00000.parquet")
	if err != nil {
		t.Fatal(err)
	}
	info, _ := file.Stat()
	if n, err := io.Copy(io.Discard, file); err != nil || n != info.Size() {
		t.Errorf("read %d bytes of %d: %v", n, info.Size(), err)
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
	if sent.Load() > 64<<20 {
		t.Errorf("%d bytes were sent", sent.Load())
	}
}
