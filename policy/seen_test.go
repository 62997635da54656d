package policy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"relabel"
)

// TestAChangedModelIsReportedOnce: the first model and each new one at each address.
func TestAChangedModelIsReportedOnce(t *testing.T) {
	answers := []string{"a", "a", "b", "b", "a", "c"}
	n := 0
	handler := func(w http.ResponseWriter, _ *http.Request) {
		name := answers[min(n, len(answers)-1)]
		n++
		_, _ = fmt.Fprintf(w, `{"model":"m-%s","system_fingerprint":"fp-%s","choices":[{"message":{"role":"assistant","content":"hi"}}]}`, name, name)
	}
	net := &network{}
	net.serve(t, "model", http.HandlerFunc(handler))
	var mu sync.Mutex
	var told []string
	var broken error
	c := openAs(t, aPolicy(nil), Options{HTTP: net.client(t), Seen: func(_ context.Context, m relabel.ModelSeen) error {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, m.Model+" "+m.Fingerprint+" "+m.BaseURL)
		return broken
	}})
	for range answers[:5] {
		if _, err := c.Complete(t.Context(), hello()); err != nil {
			t.Fatal(err)
		}
	}
	if fmt.Sprint(told) != "[m-a fp-a http://model/v1 m-b fp-b http://model/v1]" {
		t.Errorf("told %q", told)
	}
	broken = errors.New("no database")
	if _, err := c.Complete(t.Context(), hello()); relabel.CodeOf(err) != relabel.CodeUnavailable {
		t.Error(err)
	}
	broken = nil
	if _, err := c.Complete(t.Context(), hello()); err != nil || len(told) != 4 {
		t.Errorf("%v, told %q", err, told)
	}
}

func TestAServerWithoutAModelNameIsNotReported(t *testing.T) {
	net := &network{}
	net.serve(t, "model", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"hi"}}]}`)
	}))
	c := openAs(t, aPolicy(nil), Options{HTTP: net.client(t), Seen: func(_ context.Context, m relabel.ModelSeen) error {
		t.Errorf("told of %+v", m)
		return nil
	}})
	if _, err := c.Complete(t.Context(), hello()); err != nil {
		t.Error(err)
	}
}

// TestAnObserverSeesTheEndpoint follows one call that is refused once.
func TestAnObserverSeesTheEndpoint(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var tries []Try
		most, limit := 0, 0
		waited := [3]int{}
		net := &network{}
		replies := inTurn(say(429, ""), good)
		net.serve(t, "model", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Minute) // both calls are there by then
			replies(w, r)
		}))
		o := Options{HTTP: net.client(t), Endpoints: NewEndpoints(Observe{
			Tried:    func(_ string, t Try) { tries = append(tries, t) },
			InFlight: func(_ string, calls, places int) { most, limit = max(most, calls), places },
			Waiting: func(_ string, act, raised, label int) {
				for i, n := range []int{act, raised, label} {
					waited[i] = max(waited[i], n)
				}
			},
		})}
		c := openAs(t, aPolicy(func(p *relabel.Policy) { p.Limits.Concurrency, p.Limits.TimeoutSeconds = 1, 600 }), o)
		var work sync.WaitGroup
		raised := &relabel.Urgency{}
		raised.Raise()
		for _, urgency := range []*relabel.Urgency{nil, raised} {
			req := hello()
			req.Purpose, req.Urgency = relabel.PurposeLabel, urgency
			work.Go(func() {
				if _, err := c.Complete(t.Context(), req); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
		outcomes := map[string]int{}
		for _, try := range tries {
			outcomes[fmt.Sprint(try.Policy, " ", try.Purpose, " ", try.Outcome, " after ", try.After)]++
		}
		if len(tries) != 3 || outcomes["student label busy after "] != 1 || outcomes["student label answered after busy"] != 1 || tries[2].Usage == nil {
			t.Errorf("%v", outcomes)
		}
		if most != 1 || limit != 1 || waited[0] != 0 || waited[1]+waited[2] == 0 {
			t.Errorf("%d in flight of %d, waited %v", most, limit, waited)
		}
	})
}
