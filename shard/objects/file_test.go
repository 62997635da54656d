package objects

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestAServerThatSendsOtherBytesThanAskedForIsRefused(t *testing.T) {
	s, _ := recorded(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	f, err := s.Open(t.Context(), "x")
	must(t, err)
	_, err = f.Seek(2, io.SeekStart)
	must(t, err)
	if text, err := io.ReadAll(f); err == nil || !strings.Contains(err.Error(), `x: the server sends "" in the place of "bytes 2-4/5"`) {
		t.Errorf("read %q: %v", text, err)
	}
	must(t, f.Close())
}

func TestAFileOfUnknownSizeIsRefused(t *testing.T) {
	s, _ := recorded(t, func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush() })
	if _, err := s.Open(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "x: the answer has no Content-Length") {
		t.Errorf("opened: %v", err)
	}
	if size, err := s.Size(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "x: the answer has no Content-Length") {
		t.Errorf("%d bytes: %v", size, err)
	}
}
