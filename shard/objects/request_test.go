package objects

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"relabel"
	"relabel/shard/buckettest"
)

// recorded returns a bucket on a recorder.
func recorded(t *testing.T, answer func(http.ResponseWriter, *http.Request)) (*S3, *recorder) {
	t.Helper()
	clean(t)
	buckettest.UseKeys(t)
	server := record(t, false, answer)
	s, err := OpenS3(Place{Bucket: "shards", Options: url.Values{"region": {"r"}, "endpoint": {server.URL}}})
	must(t, err)
	return s, server
}

func TestOnlyWhatMayPassIsRepeated(t *testing.T) {
	for status, want := range map[int]int{409: 2, 429: 2, 503: 2, 408: 2, 400: 1, 403: 1, 404: 1, 412: 1, 301: 1, 501: 1} {
		first := true
		s, server := recorded(t, func(w http.ResponseWriter, _ *http.Request) {
			if first {
				w.Header().Set("Location", "http://127.0.0.1:1/elsewhere") // which is not followed
				w.WriteHeader(status)
			}
			first = false
		})
		err := s.Delete(t.Context(), "x")
		var refused *Error
		if asked := len(server.all()); asked != want || (err == nil) != (want == 2) {
			t.Errorf("%d: asked %d times, %v", status, asked, err)
		}
		if err != nil && (!errors.As(err, &refused) || refused.Status != status) {
			t.Errorf("%d: %v", status, err)
		}
	}
}

func TestALostConnectionIsRepeatedWithTheWholeBody(t *testing.T) {
	lost := 0
	s, server := recorded(t, func(http.ResponseWriter, *http.Request) {
		if lost++; lost < 3 {
			panic(http.ErrAbortHandler)
		}
	})
	must(t, s.Put(t.Context(), "x", strings.NewReader("hello"), 5))
	for _, q := range server.all() {
		if body := form(t, q); !body.Has("hello") {
			t.Errorf("sent %v", body)
		}
	}
	if len(server.all()) != 3 {
		t.Errorf("sent %d times", len(server.all()))
	}
}

func TestNothingIsRepeatedAfterTheContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, server := recorded(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
		cancel()
	})
	if err := s.Delete(ctx, "x"); err == nil || len(server.all()) != 1 {
		t.Errorf("asked %d times, %v", len(server.all()), err)
	}
}

func TestWhatTheRuleRefusesIsNotRepeated(t *testing.T) {
	clean(t)
	buckettest.UseKeys(t)
	dialled := 0
	transport := &http.Transport{Proxy: func(*http.Request) (*url.URL, error) {
		dialled++
		return nil, relabel.Errorf(relabel.CodeAddressRefused, "no")
	}}
	s, err := OpenS3(Place{Bucket: "shards", Options: url.Values{"region": {"r"}}, Transport: transport})
	must(t, err)
	if err := s.Delete(t.Context(), "x"); relabel.CodeOf(err) != relabel.CodeAddressRefused || dialled != 1 {
		t.Errorf("dialled %d times: %v", dialled, err)
	}
}

func TestPartsAreOfAllSizes(t *testing.T) {
	for size, want := range map[int64]int{0: 0, 1: 1, partSize: 1, partSize + 1: 2, 10_000 * partSize: 10_000} {
		if got := countParts(size); got != want {
			t.Errorf("%d bytes have %d parts", size, got)
		}
	}
}
