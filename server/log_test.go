package server_test

import (
	"encoding/json"
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
