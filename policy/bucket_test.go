package policy

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"relabel"
)

// TestNoMinuteHasMoreThanItsAllowance takes from a bucket as soon as possible, from any time on: in each
// minute at most the limit plus a second's worth.
func TestNoMinuteHasMoreThanItsAllowance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		limit := rapid.IntRange(1, 600).Draw(t, "limit")
		var b bucket
		b.set(limit, now)
		var taken []time.Time
		for range rapid.IntRange(1, 300).Draw(t, "takes") {
			now = now.Add(time.Duration(rapid.IntRange(0, 2000).Draw(t, "idle")) * time.Millisecond)
			for wait := b.wait(1, now); wait > 0; wait = b.wait(1, now) {
				now = now.Add(wait)
			}
			b.take(1, now)
			taken = append(taken, now)
		}
		for i := range taken {
			n := 0
			for ; i+n < len(taken) && taken[i+n].Before(taken[i].Add(time.Minute)); n++ {
			}
			if most := float64(limit) + b.most() + 1e-6; float64(n) > most {
				t.Fatalf("%d in a minute of %d", n, limit)
			}
		}
	})
}

// TestRequestsKeepTheirRate asks as fast as it goes, with twelve requests a minute.
func TestRequestsKeepTheirRate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var mu sync.Mutex
		var at []time.Time
		b := open(t, func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			at = append(at, time.Now())
			mu.Unlock()
			good(w, r)
		}, func(p *relabel.Policy) { p.Limits.Concurrency, p.Limits.RequestsPerMinute = 100, 12 })
		begin := time.Now()
		var work sync.WaitGroup
		for range 25 {
			work.Go(func() {
				if _, err := b.Complete(t.Context(), hello()); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
		if took := time.Since(begin).Round(time.Second); took != 2*time.Minute || len(at) != 25 {
			t.Errorf("%d requests in %v", len(at), took)
		}
		waits := make([]int64, 0, 25)
		for _, c := range b.ledger.calls {
			waits = append(waits, c.QueueMillis)
		}
		if longest := slices.Max(waits); longest < 119_000 || longest > 121_000 {
			t.Errorf("the longest wait is recorded as %d ms", longest)
		}
	})
}

// TestTokensAreCorrectedByTheActualUsage: the server counts far more than the estimate, and the rate
// follows its count.
func TestTokensAreCorrectedByTheActualUsage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const tokens = 5000 // of each call, in a request of some hundred bytes
		b := open(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, strings.Replace(goodBody, `"prompt_tokens":3`, fmt.Sprintf(`"prompt_tokens":%d`, tokens-1), 1))
		}, func(p *relabel.Policy) { p.Limits.Concurrency, p.Limits.TokensPerMinute = 1, 20_000 })
		begin := time.Now()
		for range 41 {
			if _, err := b.Complete(t.Context(), hello()); err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(begin); took < 9*time.Minute || took > 11*time.Minute {
			t.Errorf("41 calls of %d tokens took %v with 20,000 a minute", tokens, took)
		}
	})
}

func TestAFailedTryReturnsItsTokens(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := open(t, inTurn(say(400, "no"), say(400, "no"), say(400, "no"), good), func(p *relabel.Policy) { p.Limits.TokensPerMinute = 700 })
		begin := time.Now()
		for range 4 {
			_, _ = b.Complete(t.Context(), hello())
		}
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("took %v", took)
		}
	})
}
