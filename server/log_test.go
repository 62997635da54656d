package server_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A number in the log says its unit: took_ms is in milliseconds.
func TestARequestsLineSaysItsTimeWithTheUnit(t *testing.T) {
	s := start(t)
	begin := time.Now()
	s.want(200, s.get("/healthz"))
	var line struct {
		Path string   `json:"path"`
		Took *float64 `json:"took_ms"`
	}
	s.Close() // the line is written after the answer
	whole := float64(time.Since(begin)) / float64(time.Millisecond)
	if err := json.Unmarshal([]byte(s.log.String()), &line); err != nil {
		t.Fatalf("%v: %s", err, s.log)
	}
	if line.Path != "/healthz" || line.Took == nil || *line.Took <= 0 || *line.Took > whole {
		t.Errorf("%v ms: %s", whole, s.log)
	}
}

// A tab that closes while its page is asked for is no error; the same failure for someone
// who waits is one.
func TestWhoIsGoneIsNoErrorInTheLog(t *testing.T) {
	for _, gone := range []bool{true, false} {
		s := start(t)
		s.store.broken = context.Canceled
		ctx, leave := context.WithCancel(t.Context())
		if gone {
			leave()
		}
		s.Config.Handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", s.URL+"/v1/runs", nil))
		leave()
		if isError := strings.Contains(s.log.String(), `"level":"error"`); isError == gone {
			t.Errorf("gone %v: %s", gone, s.log)
		}
	}
}
