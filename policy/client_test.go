package policy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"relabel"
)

func TestACallIsRecordedWithItsPurpose(t *testing.T) {
	b := open(t, good, nil)
	req := hello()
	done, err := b.Complete(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	c := b.ledger.only(t)
	if c.PolicyID != b.policy.ID || *c.TrajectoryID != req.TrajectoryID || c.Attempt != 1 || c.T != 3 || c.Purpose != relabel.PurposeAct ||
		c.Tries != 1 || c.Status != 200 || c.FinishReason != "stop" || c.Model != "tiny" || c.Error != "" || c.ErrorBody != nil ||
		*c.Usage != *done.Usage || c.ID == (relabel.ID{}) || c.StartedAt.IsZero() ||
		c.BaseURL != "http://model/v1" || c.Hedged || c.CostMicros != nil {
		t.Errorf("%+v", c)
	}
	if string(done.Raw) != `{"role":"assistant","content":"hi"}` || done.Message.Content != "hi" {
		t.Errorf("%+v", done)
	}
}

func TestACallWithoutATrajectoryNamesNone(t *testing.T) {
	b := open(t, good, nil)
	req := hello()
	req.TrajectoryID = relabel.ID{}
	if _, err := b.Complete(t.Context(), req); err != nil || b.ledger.only(t).TrajectoryID != nil {
		t.Errorf("%v, %v", err, b.ledger.calls)
	}
}

func TestTemporaryErrorsAreRetriedAndFinalErrorsAreNot(t *testing.T) {
	for name, c := range map[string]struct {
		trouble http.HandlerFunc
		tries   int // before it is given up; 0 means a retry mends it
		code    relabel.Code
	}{
		"429":                   {say(429, `{"error":{"message":"slow down"}}`), 0, ""},
		"503":                   {say(503, "starting"), 0, ""},
		"502":                   {say(502, "<html>bad gateway</html>"), 0, ""},
		"529":                   {say(529, "overloaded"), 0, ""},
		"408":                   {say(408, ""), 0, ""},
		"409":                   {say(409, ""), 0, ""},
		"500 once":              {say(500, "Internal Server Error"), 0, ""},
		"garbage":               {say(200, "\x00\xff not JSON"), 0, ""},
		"an HTML page":          {say(200, "<html>login</html>"), 0, ""},
		"empty body":            {say(200, ""), 0, ""},
		"JSON of another kind":  {say(200, `[1,2]`), 0, ""},
		"no choices":            {say(200, `{"choices":[]}`), 0, ""},
		"no message":            {say(200, `{"choices":[{"message":null}]}`), 0, ""},
		"an error inside a 200": {say(200, `{"error":{"message":"upstream is busy","code":502}}`), 0, ""},
		"cut off":               {say(200, goodBody[:40]), 0, ""},
		"dropped connection":    {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0, ""},
		"dropped inside the body": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9")
			_, _ = io.WriteString(w, "{")
			panic(http.ErrAbortHandler)
		}, 0, ""},
		"400":                   {say(400, `{"detail":"bad"}`), 1, relabel.CodeEndpoint},
		"401":                   {say(401, ""), 1, relabel.CodeEndpoint},
		"404":                   {say(404, ""), 1, relabel.CodeEndpoint},
		"422":                   {say(422, ""), 1, relabel.CodeEndpoint},
		"501":                   {say(501, ""), 1, relabel.CodeEndpoint},
		"no money left":         {say(429, `{"error":{"code":"insufficient_quota","message":"pay"}}`), 1, relabel.CodeEndpoint},
		"overflow":              {say(400, `{"error":{"code":"context_length_exceeded","message":"x"}}`), 1, relabel.CodeContextOverflow},
		"overflow inside a 200": {say(200, `{"error":{"type":"exceed_context_size_error","message":"x"}}`), 1, relabel.CodeContextOverflow},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				b := open(t, inTurn(c.trouble, good), nil)
				done, err := b.Complete(t.Context(), hello())
				call := b.ledger.only(t)
				if c.tries == 0 {
					if err != nil || done.Message.Content != "hi" || call.Tries != 2 || call.Status != 200 || call.Error != "" {
						t.Errorf("%v, %+v", err, call)
					}
					return
				}
				if relabel.CodeOf(err) != c.code || call.Tries != c.tries || call.Error == "" {
					t.Errorf("%v, %+v", err, call)
				}
			})
		})
	}
}

func TestRetriesAreBounded(t *testing.T) {
	for _, c := range []struct{ status, retries, tries int }{
		{429, 5, 6}, {429, 0, 1}, {503, 1, 2}, {500, 3, 2}, {500, 0, 1}, {200, 2, 3},
	} {
		bubble(t, func(t *testing.T) {
			b := open(t, say(c.status, "no"), func(p *relabel.Policy) { p.Limits.Retries = c.retries })
			_, err := b.Complete(t.Context(), hello())
			call := b.ledger.only(t)
			if relabel.CodeOf(err) != relabel.CodeEndpoint || call.Tries != c.tries || call.Status != c.status || string(call.ErrorBody) != "no" {
				t.Errorf("HTTP %d with %d retries: %d tries, %v", c.status, c.retries, call.Tries, err)
			}
		})
	}
}

func TestWaitsGrowWithJitter(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var at []time.Time
		b := open(t, func(w http.ResponseWriter, r *http.Request) {
			at = append(at, time.Now())
			w.WriteHeader(429)
		}, func(p *relabel.Policy) { p.Limits.Retries = 20 })
		if _, err := b.Complete(t.Context(), hello()); err == nil {
			t.Fatal("no error")
		}
		different := map[time.Duration]bool{}
		for n := 1; n < len(at); n++ {
			wait := at[n].Sub(at[n-1])
			different[wait] = true
			if wait > min(backoffBase<<(n-1), backoffMax) {
				t.Errorf("%v after try %d", wait, n)
			}
		}
		if all := at[20].Sub(at[0]); len(different) < 15 || all < time.Minute {
			t.Errorf("%d different waits, %v in all", len(different), all)
		}
		if got, want := b.ledger.only(t).Millis, at[20].Sub(at[0]).Milliseconds(); got != want {
			t.Errorf("%d ms were recorded, not %d", got, want)
		}
	})
}

func TestRetryAfterHoldsTheWholeEndpoint(t *testing.T) {
	for name, c := range map[string]struct {
		value string
		want  time.Duration // 0: no more than the backoff
	}{
		"seconds":      {"7", 7 * time.Second},
		"a date":       {"Sat, 01 Jan 2000 00:00:20 GMT", 20 * time.Second}, // a bubble begins with the year 2000
		"far too long": {"86400", retryAfterMax},
		"a date gone":  {"Thu, 01 Jan 1998 00:00:20 GMT", 0},
		"nonsense":     {"soon", 0},
		"negative":     {"-5", 0},
		"no number":    {"NaN", 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				begin, told := time.Now(), make(chan struct{})
				var after []time.Duration
				refuse := func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Retry-After", c.value)
					w.WriteHeader(429)
					close(told)
				}
				b := open(t, inTurn(refuse, func(w http.ResponseWriter, r *http.Request) {
					after = append(after, time.Since(begin))
					good(w, r)
				}), func(p *relabel.Policy) { p.Limits.Concurrency = 1 })
				var other sync.WaitGroup
				other.Go(func() {
					<-told
					if _, err := b.Complete(t.Context(), hello()); err != nil {
						t.Error(err)
					}
				})
				if _, err := b.Complete(t.Context(), hello()); err != nil {
					t.Error(err)
				}
				other.Wait()
				for _, d := range after {
					if d < c.want || d > c.want+2*backoffBase {
						t.Errorf("asked again after %v, not %v", d, c.want)
					}
				}
				if len(after) != 2 {
					t.Errorf("asked %d times more", len(after))
				}
			})
		})
	}
}

func TestALabelThatWaitsForARetryBlocksNobody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		failed := make(chan struct{})
		var served []string
		b := open(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			purpose := "act"
			if strings.Contains(string(body), "label this") {
				purpose = "label"
			}
			if served = append(served, purpose); len(served) == 1 {
				w.WriteHeader(500)
				close(failed)
				return
			}
			good(w, r)
		}, func(p *relabel.Policy) { p.Limits.Concurrency = 1 })
		var work sync.WaitGroup
		work.Go(func() {
			label := hello()
			label.Purpose, label.Messages[0].Content = relabel.PurposeLabel, "label this"
			if _, err := b.Complete(t.Context(), label); err != nil {
				t.Error(err)
			}
		})
		<-failed
		if _, err := b.Complete(t.Context(), hello()); err != nil {
			t.Error(err)
		}
		work.Wait()
		if !slices.Equal(served, []string{"label", "act", "label"}) {
			t.Errorf("served %v", served)
		}
	})
}

func TestRetriesEndWithTheContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := open(t, func(w http.ResponseWriter, _ *http.Request) { cancel(); w.WriteHeader(503) }, func(p *relabel.Policy) { p.Limits.Retries = 20 })
		_, err := b.Complete(ctx, hello())
		if call := b.ledger.only(t); relabel.CodeOf(err) != relabel.CodeEndpoint || !errors.Is(err, context.Canceled) || call.Tries != 1 {
			t.Errorf("%v, %+v", err, call)
		}
	})
}

func TestACancelledCallIsRecorded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := open(t, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // the server sees that the client left once the body is read
			cancel()
			<-r.Context().Done()
		}, nil)
		_, err := b.Complete(ctx, hello())
		if call := b.ledger.only(t); !errors.Is(err, context.Canceled) || call.Status != 0 || call.Tries != 1 || call.Error == "" {
			t.Errorf("%v, %+v", err, call)
		}
		b.ledger.calls = nil
		if _, err := b.Complete(ctx, hello()); !errors.Is(err, context.Canceled) || b.ledger.only(t).Tries != 0 {
			t.Errorf("%v, %+v", err, b.ledger.calls)
		}
	})
}

func TestATimeoutIsRetried(t *testing.T) {
	for name, slow := range map[string]http.HandlerFunc{
		"headers": hang,
		"body": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, goodBody[:20])
			_ = http.NewResponseController(w).Flush()
			hang(w, r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				b := open(t, inTurn(slow, good), nil)
				done, err := b.Complete(t.Context(), hello())
				if call := b.ledger.only(t); err != nil || done.Message.Content != "hi" || call.Tries != 2 || call.Millis < 30_000 {
					t.Errorf("%v, %+v", err, call)
				}
			})
		})
	}
}

func TestATimeoutIsAnEndpointError(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := open(t, hang, func(p *relabel.Policy) { p.Limits.Retries = 0 })
		_, err := b.Complete(t.Context(), hello())
		if call := b.ledger.only(t); relabel.CodeOf(err) != relabel.CodeEndpoint || !strings.Contains(err.Error(), "within 30 s") || call.Status != 0 {
			t.Errorf("%v, %+v", err, call)
		}
	})
}

func TestAnUnreachableEndpointIsAnEndpointError(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := open(t, good, func(p *relabel.Policy) { p.Limits.Retries = 2 })
		b.server.Close()
		_, err := b.Complete(t.Context(), hello())
		if call := b.ledger.only(t); relabel.CodeOf(err) != relabel.CodeEndpoint || call.Tries != 3 || call.Status != 0 {
			t.Errorf("%v, %+v", err, call)
		}
	})
}

func TestARedirectIsNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the redirect was followed, with %v", r.Header)
	}))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 307, 308} {
		b := open(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/v1/chat/completions?q=1", status)
		}, nil)
		_, err := b.Complete(t.Context(), hello())
		if call := b.ledger.only(t); relabel.CodeOf(err) != relabel.CodeEndpoint || !strings.Contains(err.Error(), elsewhere.URL) || strings.Contains(err.Error(), "q=1") || call.Tries != 1 {
			t.Errorf("%d: %v, %+v", status, err, call)
		}
	}
}

func TestAnEndlessAnswerIsCancelled(t *testing.T) {
	b := open(t, func(w http.ResponseWriter, r *http.Request) {
		spaces := []byte(strings.Repeat(" ", 1<<20))
		for r.Context().Err() == nil {
			if _, err := w.Write(spaces); err != nil {
				return
			}
		}
	}, nil)
	_, err := b.Complete(t.Context(), hello())
	if call := b.ledger.only(t); relabel.CodeOf(err) != relabel.CodeEndpoint || !strings.Contains(err.Error(), "larger than") || call.Tries != 1 || len(call.ErrorBody) != maxErrorKept {
		t.Errorf("%v, tries %d, body of %d bytes", err, call.Tries, len(call.ErrorBody))
	}
}

func TestACallThatCannotBeRecordedFails(t *testing.T) {
	b := open(t, good, nil)
	b.ledger.err = errors.New("no database")
	if _, err := b.Complete(t.Context(), hello()); relabel.CodeOf(err) != relabel.CodeUnavailable {
		t.Error(err)
	}
}

func TestNoMoreCallsAreInFlightThanAllowed(t *testing.T) {
	var mu sync.Mutex
	now, most := 0, 0
	full := make(chan struct{})
	b := open(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		now++
		if most = max(most, now); now == 2 && most == 2 {
			select {
			case <-full:
			default:
				close(full)
			}
		}
		mu.Unlock()
		<-full // the first two meet; the others come after them
		mu.Lock()
		now--
		mu.Unlock()
		good(w, r)
	}, nil)
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			if _, err := b.Complete(t.Context(), hello()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if most != 2 || len(b.ledger.calls) != 12 {
		t.Errorf("%d in flight at once, %d recorded", most, len(b.ledger.calls))
	}
}
