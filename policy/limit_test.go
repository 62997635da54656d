package policy

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"relabel"
)

// TestTheLimitFindsTheServersCapacity: a server answers a number of concurrent calls and refuses others.
// 64 callers settle near its capacity, and from then on few calls are refused.
func TestTheLimitFindsTheServersCapacity(t *testing.T) {
	for _, capacity := range []int{1, 5, 20} {
		bubble(t, func(t *testing.T) {
			var inside, refused, served, early atomic.Int64
			b := open(t, func(w http.ResponseWriter, r *http.Request) {
				defer inside.Add(-1)
				if inside.Add(1) > int64(capacity) {
					refused.Add(1)
					w.WriteHeader(429)
					return
				}
				time.Sleep(time.Second)
				served.Add(1)
				good(w, r)
			}, func(p *relabel.Policy) { p.Limits.Concurrency, p.Limits.PatienceSeconds = 64, 3600 })
			const callers, each = 64, 20
			var work sync.WaitGroup
			begin := time.Now()
			for range callers {
				work.Go(func() {
					for range each {
						if _, err := b.Complete(t.Context(), hello()); err != nil {
							t.Error(err)
						}
						if served.Load() == callers*each/2 {
							early.Store(refused.Load())
						}
					}
				})
			}
			work.Wait()
			ideal := callers * each / capacity
			took := time.Since(begin).Seconds()
			// With one place more a round, each round of answers costs a refusal at most.
			late := refused.Load() - early.Load()
			t.Logf("capacity %d: %d answers in %.0f s (ideal %d s), %d refusals in the first half, %d in the second", capacity, served.Load(), took, ideal, early.Load(), late)
			if took > 1.6*float64(ideal)+60 || late > int64(ideal) {
				t.Errorf("capacity %d: %d answers took %.0f s, with %d refusals in the second half", capacity, served.Load(), took, late)
			}
		})
	}
}

// TestTheLimitFollowsTheServer: a server accepts 3 concurrent calls and later 12. The limit falls and
// rises accordingly.
func TestTheLimitFollowsTheServer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var inside, capacity atomic.Int64
		capacity.Store(3)
		b := open(t, func(w http.ResponseWriter, r *http.Request) {
			defer inside.Add(-1)
			if inside.Add(1) > capacity.Load() {
				w.WriteHeader(429)
				return
			}
			time.Sleep(time.Second)
			good(w, r)
		}, func(p *relabel.Policy) { p.Limits.Concurrency, p.Limits.PatienceSeconds = 32, 3600 })
		e := b.replicas[0].at
		ask := func() (places int) {
			var work sync.WaitGroup
			for range 32 {
				work.Go(func() {
					for range 20 {
						if _, err := b.Complete(t.Context(), hello()); err != nil {
							t.Error(err)
						}
					}
				})
			}
			work.Wait()
			e.mu.Lock()
			defer e.mu.Unlock()
			return e.limit.places()
		}
		if places := ask(); places > 4 {
			t.Errorf("%d places at a server that bears 3", places)
		}
		capacity.Store(12)
		if places := ask(); places < 7 || places > 17 {
			t.Errorf("%d places at a server that bears 12", places)
		}
	})
}

func TestTheLimitStaysWithinItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l limit
		ceiling := rapid.IntRange(1, 100).Draw(t, "ceiling")
		l.raiseTo(ceiling)
		granted := uint64(0)
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			granted++
			before := l.size
			switch rapid.SampledFrom([]string{"grow", "cut", "restart"}).Draw(t, "step") {
			case "grow":
				l.grow()
			case "cut":
				grant := rapid.Uint64Range(1, granted).Draw(t, "grant")
				settled := l.settled
				if l.cut(grant, granted); grant <= settled && l.size != before {
					t.Fatal("a call from before the last cut cuts again")
				}
			case "restart":
				l.restart()
			}
			if p := l.places(); p < 1 || p > ceiling {
				t.Fatalf("%d places of 1 to %d", p, ceiling)
			}
		}
	})
}

func TestAWiderPolicyKeepsTheLearnedLimit(t *testing.T) {
	var l limit
	l.raiseTo(64)
	for grant := range uint64(10) {
		l.cut(grant+1, grant+1)
	}
	learned := l.places()
	if l.raiseTo(128); l.places() != learned {
		t.Errorf("%d places are %d now", learned, l.places())
	}
	var whole limit
	whole.raiseTo(64)
	if whole.raiseTo(128); whole.places() != 128 {
		t.Errorf("%d places, of a server that refused nothing", whole.places())
	}
}

func TestABurstOfRefusalsIsOneCut(t *testing.T) {
	var l limit
	l.raiseTo(100)
	for grant := range uint64(100) {
		l.cut(grant+1, 100)
	}
	if l.places() != 70 {
		t.Errorf("%d places", l.places())
	}
	for range 70 {
		l.grow()
	}
	if p := l.places(); p < 71 || p > 72 {
		t.Errorf("%d places after a round of answers", p)
	}
}

// TestAServerThatBecomesSlowGetsFewerCalls: the time per token rises tenfold, and the limit falls. Long
// answers alone do not count as slow.
func TestAServerThatBecomesSlowGetsFewerCalls(t *testing.T) {
	usage := func(tokens int) *relabel.Usage { return &relabel.Usage{CompletionTokens: tokens} }
	var p pace
	for i := range 1000 {
		tokens := 10 + i%7*400
		if p.learn(time.Duration(tokens+8)*10*time.Millisecond, usage(tokens)) {
			t.Fatal("an even pace is called slow")
		}
	}
	slow := 0
	for range 40 {
		if p.learn(108*100*time.Millisecond, usage(100)) {
			slow++
		}
	}
	if slow < 20 {
		t.Errorf("%d of 40 answers at a tenth of the pace are called slow", slow)
	}
	for range 5000 {
		p.learn(108*100*time.Millisecond, usage(100))
	}
	if p.learn(108*100*time.Millisecond, usage(100)) {
		t.Error("what is slow for long is still called slow")
	}
}

func TestEachPolicyKeepsItsOwnConcurrency(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := &network{}
		var inside, most [2]atomic.Int64
		n.serve(t, "gateway", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			i := 0
			if r.Header.Get("Authorization") != "" {
				i = 1
			}
			now := inside[i].Add(1)
			defer inside[i].Add(-1)
			for m := most[i].Load(); now > m && !most[i].CompareAndSwap(m, now); m = most[i].Load() {
			}
			time.Sleep(time.Second)
			good(w, r)
		}))
		o := Options{HTTP: n.client(t), Endpoints: NewEndpoints(Observe{}), Secrets: Secrets{Dir: t.TempDir()}}
		t.Setenv("RELABEL_SECRET_KEY", "k")
		narrow := aPolicy(func(p *relabel.Policy) { p.Name, p.BaseURL, p.Limits.Concurrency = "narrow", "http://gateway/v1/", 2 })
		wide := aPolicy(func(p *relabel.Policy) {
			p.Name, p.BaseURL, p.Secret, p.Limits.Concurrency = "wide", "http://gateway/v1", "key", 5
		})
		newer := narrow
		newer.ID, newer.CreatedAt, newer.Limits.Concurrency = relabel.NewID(), time.Now(), 3
		clients := []*Client{openAs(t, narrow, o), openAs(t, wide, o), openAs(t, newer, o), openAs(t, narrow, o)}
		if clients[0].replicas[0] != clients[2].replicas[0] || clients[0].replicas[0].at != clients[1].replicas[0].at {
			t.Fatal("versions of a policy have a lane each, or policies an endpoint each")
		}
		var work sync.WaitGroup
		for _, c := range clients {
			for range 20 {
				work.Go(func() {
					if _, err := c.Complete(t.Context(), hello()); err != nil {
						t.Error(err)
					}
				})
			}
		}
		work.Wait()
		// The newest version's limit holds for all; the endpoint's own is the widest policy's.
		if a, b := most[0].Load(), most[1].Load(); a != 3 || b > 5 || b < 2 {
			t.Errorf("%d and %d in flight at once", a, b)
		}
	})
}
