package shard

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
	"relabel/shard/buckettest"
)

func TestRefusalsOfABucketSayTheirReason(t *testing.T) {
	buckettest.UseKeys(t)
	server := buckettest.StartS3(t, "shards")
	for _, c := range []struct {
		status int
		word   string
		says   string
		waits  bool
	}{
		{403, "RequestTimeTooSkewed", "the clock on host-7 is wrong (RequestTimeTooSkewed): set it", false},
		{400, "ExpiredToken", "the keys on host-7 were rejected (ExpiredToken)", false},
		{404, "NoSuchUpload", "the upload in parts was removed before its end (NoSuchUpload)", true},
		{301, "PermanentRedirect", "it answered 301 (PermanentRedirect): check the region", false},
		{503, "SlowDown", "it answered 503 (SlowDown)", true},
		{403, "<b>no</b>", "the keys on host-7 were rejected: set", false},
	} {
		refuses := &collider{times: -1, status: c.status, word: c.word}
		s := bucketStore("one", refuses.start(t, server, "shards"))
		_ = work(s, bucketExporter(t, s), relabel.CutExport, 0)
		said := s.export.Waiting
		if !c.waits {
			said = strings.Join(s.reasons, "; ")
		}
		if !strings.Contains(said, c.says) {
			t.Errorf("%d %s: failed for %q, waits for %q", c.status, c.word, s.reasons, s.export.Waiting)
		}
	}
}

// TestServersOfKeysAreExplained: a mock of the token service of AWS refuses an identity, and is away.
func TestServersOfKeysAreExplained(t *testing.T) {
	buckettest.UseKeys(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	t.Setenv("AWS_ROLE_ARN", "arn:aws:iam::1:role/x")
	token := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(token, []byte("mine"), 0o600))
	t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", token)
	mock := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "<ErrorResponse><Error><Code>NoSuchEntity</Code></Error></ErrorResponse>")
	}))
	t.Setenv("AWS_ENDPOINT_URL_STS", mock.URL)
	s := bucketStore("one", "s3://shards?region=r")
	_ = work(s, bucketExporter(t, s), relabel.CutExport, 0)
	if len(s.reasons) != 1 || !strings.Contains(s.reasons[0], "the identity on host-7 was rejected (NoSuchEntity): check its role") {
		t.Errorf("failed for %q, waits for %q", s.reasons, s.export.Waiting)
	}
	mock.Close()
	s = bucketStore("two", "s3://shards?region=r")
	_ = work(s, bucketExporter(t, s), relabel.CutExport, 0)
	if len(s.reasons) != 0 || !strings.Contains(s.export.Waiting, "the server that gives keys: connection refused") {
		t.Errorf("failed for %q, waits for %q", s.reasons, s.export.Waiting)
	}
}
