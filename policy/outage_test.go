package policy

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"relabel"
)

// patient sets a patience in seconds.
func patient(seconds int) func(*relabel.Policy) {
	return func(p *relabel.Policy) { p.Limits.PatienceSeconds, p.Limits.Retries = seconds, 1 }
}

// TestCallsWaitWhileTheEndpointIsDown: a server is down for five minutes. Ten calls wait for it, probe it
// one at a time, and are answered when it is up.
func TestCallsWaitWhileTheEndpointIsDown(t *testing.T) {
	for name, away := range map[string]int{"no connection": 0, "502": 502, "503": 503, "504": 504} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n, up := &network{}, time.Now().Add(5*time.Minute)
				if away == 0 {
					time.AfterFunc(5*time.Minute, func() { n.serve(t, "model", good) })
				} else {
					n.serve(t, "model", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if time.Now().Before(up) {
							w.WriteHeader(away)
							return
						}
						good(w, r)
					}))
				}
				var opened, tries atomic.Int64
				var closed time.Time
				observe := Observe{
					Tried: func(string, Try) { tries.Add(1) },
					Breaker: func(_ string, down error) {
						if down != nil {
							opened.Add(1)
						} else {
							closed = time.Now()
						}
					},
				}
				c := openAs(t, aPolicy(patient(600)), Options{HTTP: n.client(t), Endpoints: NewEndpoints(observe)})
				var work sync.WaitGroup
				for range 10 {
					work.Go(func() {
						if _, err := c.Complete(t.Context(), hello()); err != nil {
							t.Error(err)
						}
					})
				}
				work.Wait()
				if opened.Load() != 1 || closed.Before(up) || closed.After(up.Add(lastInterval)) {
					t.Errorf("opened %d times, closed %v after it was up", opened.Load(), closed.Sub(up))
				}
				if n := tries.Load(); n > 10+5+5*60/30+10 {
					t.Errorf("%d requests in five minutes", n)
				}
			})
		})
	}
}

// TestTheLimitRecoversAfterAnOutage: 503 for minutes cuts the limit to one; the server
// that is back gets half of the calls at once.
func TestTheLimitRecoversAfterAnOutage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		up := time.Now().Add(5 * time.Minute)
		b := open(t, func(w http.ResponseWriter, r *http.Request) {
			if time.Now().Before(up) {
				w.WriteHeader(503)
				return
			}
			good(w, r)
		}, func(p *relabel.Policy) { patient(600)(p); p.Limits.Concurrency = 40 })
		e := b.replicas[0].at
		var work sync.WaitGroup
		work.Go(func() {
			if _, err := b.Complete(t.Context(), hello()); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(4 * time.Minute)
		e.mu.Lock()
		low := e.limit.places()
		e.mu.Unlock()
		work.Wait()
		if high := e.limit.places(); low > 5 || high != 20 {
			t.Errorf("%d places while it was down, %d after", low, high)
		}
	})
}

// TestWaitingForASlotDoesNotUsePatience: a call is refused now and then, and waits long for
// its place in between; its patience is for the refusals.
func TestWaitingForASlotDoesNotUsePatience(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := 0
		b := open(t, func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength > 2000 { // the other's
				time.Sleep(100 * time.Second)
			} else if n++; n <= 4 {
				w.WriteHeader(429)
				return
			}
			good(w, r)
		}, func(p *relabel.Policy) {
			p.Limits.Concurrency, p.Limits.TimeoutSeconds, p.Limits.PatienceSeconds, p.Limits.Retries = 1, 600, 60, 0
		})
		ctx, cancel := context.WithCancel(t.Context())
		var others sync.WaitGroup
		for range 2 {
			others.Go(func() {
				for ctx.Err() == nil {
					long := hello()
					long.Messages[0].Content = strings.Repeat("x", 3000)
					_, _ = b.Complete(ctx, long)
				}
			})
		}
		if _, err := b.Complete(t.Context(), hello()); err != nil {
			t.Error(err)
		}
		cancel()
		others.Wait()
	})
}

func TestAServerThatHangsGetsFewProbes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const calls = 32
		var asked atomic.Int32
		b := open(t, func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1) <= calls {
				time.Sleep(time.Second) // none is answered before all have been sent
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			hang(w, r)
		}, func(p *relabel.Policy) {
			p.Limits.Concurrency, p.Limits.TimeoutSeconds, p.Limits.PatienceSeconds = calls, 600, 3600
		})
		ctx, leave := context.WithTimeout(t.Context(), time.Minute)
		defer leave()
		var all sync.WaitGroup
		for range calls {
			all.Go(func() { _, _ = b.Complete(ctx, hello()) })
		}
		all.Wait()
		if n := asked.Load() - calls; n == 0 || n > 7 { // after 1, 2, 4, 8, 16 and 30 s
			t.Errorf("%d calls were let through within a minute", n)
		}
	})
}

func TestPatienceEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := open(t, good, patient(100))
		b.server.Close()
		begin := time.Now()
		_, err := b.Complete(t.Context(), hello())
		if took := time.Since(begin); relabel.CodeOf(err) != relabel.CodeEndpoint || took < 100*time.Second || took > 101*time.Second || !strings.Contains(err.Error(), "refused") {
			t.Errorf("after %v: %v", took, err)
		}
		if c := b.ledger.only(t); c.Tries < 3 || c.Tries > 12 || c.Error == "" || c.BaseURL == "" {
			t.Errorf("%+v", c)
		}
	})
}

func TestACallThatLeavesDoesNotWaitForAnOutageToEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := open(t, good, patient(600))
		b.server.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
		defer cancel()
		begin := time.Now()
		_, err := b.Complete(ctx, hello())
		if took := time.Since(begin); took != 50*time.Second || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

// TestACallWaitsForABusyServerWithinItsPatience: 429 uses up no retries, and waiting for a slot no
// patience.
func TestACallWaitsForABusyServerWithinItsPatience(t *testing.T) {
	bubble(t, func(t *testing.T) {
		begin := time.Now()
		b := open(t, func(w http.ResponseWriter, r *http.Request) {
			if time.Since(begin) < 5*time.Minute {
				w.WriteHeader(429)
				return
			}
			good(w, r)
		}, patient(600))
		if _, err := b.Complete(t.Context(), hello()); err != nil || b.ledger.only(t).Tries < 10 {
			t.Error(err, b.ledger.calls)
		}
	})
	bubble(t, func(t *testing.T) {
		b := open(t, say(429, "never"), patient(300))
		begin := time.Now()
		_, err := b.Complete(t.Context(), hello())
		if took := time.Since(begin); relabel.CodeOf(err) != relabel.CodeEndpoint || took < 300*time.Second || took > 400*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

// TestACallWaitsForAServerThatIsBrokenForAllCalls: every call gets a 500 for minutes, as from a server
// whose engine has died. No call is the cause, and all are answered when it recovers. A call that gets a
// 500 while others get answers fails soon.
func TestACallWaitsForAServerThatIsBrokenForAllCalls(t *testing.T) {
	bubble(t, func(t *testing.T) {
		up := time.Now().Add(5 * time.Minute)
		b := open(t, func(w http.ResponseWriter, r *http.Request) {
			if time.Now().Before(up) {
				w.WriteHeader(500)
				return
			}
			good(w, r)
		}, patient(600))
		var work sync.WaitGroup
		for range 5 {
			work.Go(func() {
				if _, err := b.Complete(t.Context(), hello()); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
	})
	bubble(t, func(t *testing.T) {
		b := open(t, func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength > 2000 {
				w.WriteHeader(500)
				return
			}
			good(w, r)
		}, patient(600))
		for range 2 { // one after the other, an answer in between
			poison := hello()
			poison.Messages[0].Content = strings.Repeat("x", 3000)
			begin := time.Now()
			if _, err := b.Complete(t.Context(), poison); relabel.CodeOf(err) != relabel.CodeEndpoint || time.Since(begin) > time.Minute {
				t.Errorf("after %v: %v", time.Since(begin), err)
			}
			if _, err := b.Complete(t.Context(), hello()); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestACallThatBreaksItsServerFails: the line breaks for one call while others are
// answered, so that the call is the cause and waiting is useless.
func TestACallThatBreaksItsServerFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := open(t, func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength > 2000 {
				panic(http.ErrAbortHandler)
			}
			time.Sleep(100 * time.Millisecond)
			good(w, r)
		}, patient(3600))
		ctx, cancel := context.WithCancel(t.Context())
		var others sync.WaitGroup
		others.Go(func() {
			for ctx.Err() == nil {
				_, _ = b.Complete(ctx, hello())
			}
		})
		begin, poison := time.Now(), hello()
		poison.Messages[0].Content = strings.Repeat("x", 3000)
		_, err := b.Complete(t.Context(), poison)
		if took := time.Since(begin); relabel.CodeOf(err) != relabel.CodeEndpoint || took > time.Minute {
			t.Errorf("after %v: %v", took, err)
		}
		cancel()
		others.Wait()
	})
}

// TestASlowServerUsesUpRetries: a hung server is found to be down by its timeouts, but a
// call whose own answer takes too long does not hold up the rest.
func TestASlowServerUsesUpRetries(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := open(t, hang, patient(3600))
		begin := time.Now()
		_, err := b.Complete(t.Context(), hello())
		if took := time.Since(begin); relabel.CodeOf(err) != relabel.CodeEndpoint || took < time.Minute || took > 62*time.Second || b.ledger.only(t).Tries != 2 {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

// TestA500IsRetriedOnce: a 500 after other failures is retried, and a second one ends the call.
func TestA500IsRetriedOnce(t *testing.T) {
	for _, c := range []struct {
		last string
		tell func(http.ResponseWriter, *http.Request)
		code relabel.Code
	}{
		{"an answer", good, ""},
		{"another 500", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, relabel.CodeEndpoint},
	} {
		bubble(t, func(t *testing.T) {
			tries := 0
			b := open(t, func(w http.ResponseWriter, r *http.Request) {
				switch tries++; tries {
				case 1, 2:
					_, _ = w.Write([]byte("<html>welcome</html>"))
				case 3:
					w.WriteHeader(500)
				default:
					c.tell(w, r)
				}
			}, func(p *relabel.Policy) { p.Limits.Retries = 5 })
			if _, err := b.Complete(t.Context(), hello()); relabel.CodeOf(err) != c.code || tries != 4 {
				t.Errorf("%s after garbage and a 500: %v, %d tries", c.last, err, tries)
			}
		})
	}
}
