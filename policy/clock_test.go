package policy

import (
	"net/http"
	"testing"
	"time"

	"relabel"
)

// stopwatch is a relabel.Clock.
type stopwatch struct {
	counted time.Duration
	since   time.Time // zero: it is stopped
}

func (s *stopwatch) Stop() {
	if !s.since.IsZero() {
		s.counted += time.Since(s.since)
	}
	s.since = time.Time{}
}

func (s *stopwatch) Restart() { s.counted, s.since = 0, time.Now() }

func TestTheClockOfACallCountsOnlyTheAnsweredRequest(t *testing.T) {
	bubble(t, func(t *testing.T) {
		slow := func(then http.HandlerFunc, after time.Duration) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(after)
				then(w, r)
			}
		}
		down := slow(say(503, `{}`), 2*time.Second)
		b := open(t, inTurn(down, down, down, down, slow(good, 5*time.Second)), func(p *relabel.Policy) { p.Limits.PatienceSeconds = 600 })
		watch := &stopwatch{since: time.Now()}
		req := hello()
		req.Clock = watch
		begun := time.Now()
		if _, err := b.Complete(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if !watch.since.IsZero() || watch.counted != 5*time.Second || time.Since(begun) < 14*time.Second {
			t.Errorf("%s of %s are counted, and it stands: %v", watch.counted, time.Since(begun), watch.since.IsZero())
		}
	})
}
