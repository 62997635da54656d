package objects

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"relabel/shard/buckettest"
)

// An upload without an id would go on with requests for the object itself, the last of which deletes it.
func TestAnUploadWithoutAnIDIsNotContinued(t *testing.T) {
	s, server := recorded(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<InitiateMultipartUploadResult><UploadId/></InitiateMultipartUploadResult>")
	})
	if err := s.Put(t.Context(), "large", bytes.NewReader(bytesOf(partSize+1)), partSize+1); err == nil || len(server.all()) != 1 {
		t.Errorf("%d requests, %v", len(server.all()), err)
	}
}

func TestAnUploadIsCompleteOnlyIfTheServerSaysSo(t *testing.T) {
	for _, end := range []string{"", "  \n", "<html><body>welcome</body></html>"} {
		good := joined(0)
		s, _ := recorded(t, func(w http.ResponseWriter, q *http.Request) {
			if q.Method == http.MethodPost && q.URL.Query().Has("uploadId") {
				_, _ = io.WriteString(w, end)
				return
			}
			good(w, q)
		})
		if err := s.Put(t.Context(), "large", bytes.NewReader(bytesOf(partSize+1)), partSize+1); err == nil {
			t.Errorf("%q is taken for the end of an upload", end)
		}
	}
}

// Bytes of another place, or more of them, are not taken for those that were asked for.
func TestAPartOfAFileIsTheOneThatWasAskedFor(t *testing.T) {
	for sent, good := range map[string]bool{"bytes 5-9/10": true, "bytes 0-4/10": false, "bytes 5-9/11": false, "": false} {
		s, _ := recorded(t, func(w http.ResponseWriter, q *http.Request) {
			if q.Header.Get("Range") == "" {
				_, _ = io.WriteString(w, "0123456789")
				return
			}
			w.Header().Set("Content-Range", sent)
			w.WriteHeader(http.StatusPartialContent)
			_, _ = io.WriteString(w, "56789 and more")
		})
		f, err := s.Open(t.Context(), "x")
		must(t, err)
		_, err = f.Seek(5, io.SeekStart)
		must(t, err)
		text, err := io.ReadAll(f)
		if (err == nil) != good || good && string(text) != "56789" {
			t.Errorf("%q: %q, %v", sent, text, err)
		}
		must(t, f.Close())
	}
}

// Who copies a damaged file to a client must not have sent all of it before the error.
func TestADamagedFileLacksItsEnd(t *testing.T) {
	s, _ := recorded(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amz-Checksum-Crc32", "AAAAAA==")
		_, _ = io.WriteString(w, "hello")
	})
	f, err := s.Open(t.Context(), "x")
	must(t, err)
	defer f.Close()
	if n, err := io.CopyN(io.Discard, f, 5); n == 5 || err == nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestNoRequestIsSentWithoutItsPath(t *testing.T) {
	clean(t)
	buckettest.UseKeys(t)
	for _, endpoint := range []string{"http://127.0.0.1:1?", "http://127.0.0.1:1/base?"} {
		var setting SettingError
		s, err := OpenS3(Place{Bucket: "shards", Options: url.Values{"region": {"r"}, "endpoint": {endpoint}}})
		must(t, err)
		if err := s.Delete(t.Context(), "x"); !errors.As(err, &setting) {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "BlobEndpoint=http://127.0.0.1:1/?sv=1;SharedAccessSignature=sig=s")
	var setting SettingError
	a, err := OpenAzure(Place{Bucket: "shards"})
	must(t, err)
	if err := a.Delete(t.Context(), "x"); !errors.As(err, &setting) {
		t.Errorf("%v", err)
	}
}

func TestSettingErrorsHidePasswordsOfServers(t *testing.T) {
	clean(t)
	buckettest.UseKeys(t)
	t.Setenv("AWS_ENDPOINT_URL", "http://me:hidden@s3.example")
	_, err := OpenS3(Place{Bucket: "shards", Options: url.Values{"region": {"r"}, "fips": {"true"}}})
	hides(t, err)
	_, err = formRequest(t.Context(), "http://me:hidden@sts example", nil)
	hides(t, err)
	_, err = machineRequest(t.Context(), http.MethodGet, "http://me:hidden@meta data", "", "")
	hides(t, err)
}

func hides(t *testing.T, err error) {
	t.Helper()
	if err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("%v", err)
	}
}

func TestLongErrorsOfServersAreCut(t *testing.T) {
	s, _ := recorded(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "<Error><Code>"+strings.Repeat("c", 5000)+"</Code><Message>"+strings.Repeat("m", 50_000)+"</Message></Error>")
	})
	if err := s.Delete(t.Context(), "x"); err == nil || len(err.Error()) > 2000 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}

func TestAnAnswerWithoutKeysGivesNone(t *testing.T) {
	clean(t)
	sts := record(t, false, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html/>") })
	t.Setenv("AWS_ENDPOINT_URL_STS", sts.URL)
	t.Setenv("AWS_ROLE_ARN", "arn:aws:iam::1:role/x")
	file(t, "AWS_WEB_IDENTITY_TOKEN_FILE", "good\n")
	if _, _, err := keyOf(t, false); !errors.Is(err, ErrNoKeys) {
		t.Errorf("%v", err)
	}
}

// stalled is a server that never answers.
type stalled struct{}

func (stalled) RoundTrip(q *http.Request) (*http.Response, error) {
	<-q.Context().Done()
	return nil, q.Context().Err()
}

// Each request for keys has its own limit, because all other requests wait for it, even those that may last for hours.
func TestAStalledServerOfKeysIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := askForKeys(t.Context(), &http.Client{Transport: stalled{}}, func(ctx context.Context) (*http.Request, error) {
			return formRequest(ctx, "http://keys.example", nil)
		})
		var keys *KeysError
		if !errors.As(err, &keys) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}

func TestAbsurdWaitsAreShort(t *testing.T) {
	for _, seconds := range []int64{10, 1 << 33, 1 << 34, 1<<63 - 1, -1 << 63} {
		err := refusal(httpRequest(t), &http.Response{StatusCode: 503, Body: http.NoBody, Header: http.Header{"Retry-After": {strconv.FormatInt(seconds, 10)}}})
		if wait := asked(err); wait > longestPause {
			t.Errorf("%d seconds: %s", seconds, wait)
		}
	}
	if asked(nil) != 0*time.Second {
		t.Error("a wait without an error")
	}
}

func TestAnEndlessAnswerIsNotReadToItsEnd(t *testing.T) {
	sent := 0
	done := make(chan struct{})
	s, _ := recorded(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(done)
		for nested := []byte(strings.Repeat("<a>", 1<<16)); sent < 60<<20; sent += len(nested) {
			if _, err := w.Write(nested); err != nil {
				return
			}
		}
	})
	if _, _, err := s.List(t.Context(), "", ""); err == nil {
		t.Error("it is taken for a list")
	}
	if <-done; sent >= 60<<20 {
		t.Errorf("%d bytes were read", sent)
	}
}
