package labeller_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"relabel"
	"relabel/policy/scripted"
)

func TestABatchWithoutAnswersHasABound(t *testing.T) {
	t.Parallel()
	for name, meddle := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"it is worked at for ever": func(http.ResponseWriter, *http.Request) bool { return false },
		"its endpoint is broken": func(w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		},
		"it is called by what cannot be stored": func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPost || r.URL.Path != "/v1/batches" {
				return false
			}
			w.Write([]byte(`{"id":"a\u0000b","status":"in_progress"}`))
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEndpoint(t, scripted.Config{Batch: scripted.Batching{Delay: time.Hour}})
			e.path = meddle
			s, d := waiting(t, e, 1)
			bounds := quick
			bounds.Age = time.Millisecond
			workOff(t, s, worker(s, s, "w", bounds))
			for at, l := range labels(t, s, d) {
				if l.Status != relabel.Missing || !strings.HasPrefix(l.Reason, "endpoint: batched: ") {
					t.Errorf("%s: %s %q", at, l.Status, l.Reason)
				}
			}
		})
	}
}
