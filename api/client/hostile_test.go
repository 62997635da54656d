package client_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"relabel"
	"relabel/api"
	"relabel/api/client"
)

// endless repeats a text without an end.
type endless struct{ text string }

func (e endless) Read(p []byte) (n int, err error) {
	for n < len(p) {
		n += copy(p[n:], e.text)
	}
	return n, nil
}

// body is the answer of a transport to every request.
type body struct {
	io.Reader
	kind string
}

func (b body) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(b.Reader), Header: http.Header{"Content-Type": {b.kind}}}, nil
}

// answering is a client of a server that answers with a body.
func answering(t *testing.T, b body) *client.Client {
	t.Helper()
	c, err := client.New("http://localhost:1", "secret")
	if err != nil {
		t.Fatal(err)
	}
	c.HTTP = &http.Client{Transport: b}
	return c
}

// refused demands CodeUnavailable and a text in the error.
func refused(t *testing.T, err error, text string) {
	t.Helper()
	if relabel.CodeOf(err) != relabel.CodeUnavailable || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want %q", err, text)
	}
}

func TestAnEndlessAnswerIsRefused(t *testing.T) {
	c := answering(t, body{io.MultiReader(strings.NewReader(`{"name":"`), endless{"x"}), "application/json"})
	_, err := c.Overview(t.Context())
	refused(t, err, "is over 64 MiB")
	_, err = c.Patch(t.Context(), relabel.NewID())
	refused(t, err, "is over 64 MiB")
	_, err = c.TokenizerFiles(t.Context(), "small")
	refused(t, err, "is not a relabel server")
	header := &bytes.Buffer{}
	if err := tar.NewWriter(header).WriteHeader(&tar.Header{Name: "tokenizer.json", Size: 1 << 40}); err != nil {
		t.Fatal(err)
	}
	c = answering(t, body{io.MultiReader(header, endless{"x"}), "application/x-tar"})
	_, err = c.TokenizerFiles(t.Context(), "small")
	refused(t, err, "is over 128 MiB")
}

func TestAnAnswerOfAnotherKindIsRefused(t *testing.T) {
	for _, text := range []string{"", "<html>", `{"version":"1`, `[]`, "\x1f\x8b"} {
		_, err := answering(t, body{strings.NewReader(text), "text/html"}).Run(t.Context(), "a")
		refused(t, err, "is not a relabel server, or the connection broke")
	}
}

func TestAListThatRepeatsItsPagesIsRefused(t *testing.T) {
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		next := map[string]string{"": "a", "a": "b", "b": "a"}[r.URL.Query().Get("after")]
		_, _ = fmt.Fprintf(w, `{"items":[{}],"next":%q}`, next)
	})
	_, err := c.Runs(t.Context())
	refused(t, err, "is not a relabel server")
	pages := 0
	c = server(t, func(w http.ResponseWriter, r *http.Request) {
		pages++
		_, _ = fmt.Fprintf(w, `{"items":[{}],"next":"%d"}`, pages)
	})
	_, err = c.Runs(t.Context())
	refused(t, err, "is over 512 MiB")
	for _, text := range []string{"null", "{}", `{"items":null}`, `{"items":[],"next":"a"}`} {
		_, err := answering(t, body{strings.NewReader(text), "application/json"}).Runs(t.Context())
		refused(t, err, "is not a relabel server")
	}
}

func TestNoRedirectIsFollowed(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s was sent to the other host with %q", r.Method, r.URL, r.Header.Get("Authorization"))
	}))
	t.Cleanup(other.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		c := server(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", other.URL+"/v1/runs")
			w.WriteHeader(status)
		})
		_, read := c.Run(t.Context(), "a")
		_, written := c.CreateRun(t.Context(), api.NewRun{Name: "a"})
		_, file := c.ExportFile(t.Context(), relabel.NewID(), "rows.jsonl")
		follow := c.Follow(t.Context(), relabel.EventScope{}, nil)
		for _, err := range []error{read, written, file, follow} {
			if relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), "redirects to \""+other.URL) {
				t.Errorf("%d: %v", status, err)
			}
		}
	}
	c := server(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) })
	if _, err := c.Run(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "302") {
		t.Errorf("a redirect to nowhere: %v", err)
	}
}

func TestAnEventTooLargeEndsTheStream(t *testing.T) {
	for name, text := range map[string]string{"one line": "data: x", "many lines": "data: " + strings.Repeat("x", 1000) + "\n"} {
		reader := io.MultiReader(strings.NewReader("event: progress\n"), endless{text})
		c := answering(t, body{reader, "text/event-stream"})
		err := c.Follow(t.Context(), relabel.EventScope{}, func(client.Event) (bool, error) { return false, errors.New("used") })
		if err == nil || !strings.Contains(err.Error(), "is over 4 MiB") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAPageInsteadOfAStreamIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := answering(t, body{strings.NewReader("<html>"), "text/html"})
		refused(t, c.Follow(t.Context(), relabel.EventScope{}, nil), `answered "text/html", not an event stream`)
	})
}
