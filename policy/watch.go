package policy

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"relabel"
)

// Timeouts of probes. That of an answer grows with each probe that got none, up to the
// policy's own, so that a server that is slow is found to be back too.
const (
	modelsTimeout = 3 * time.Second
	answerTimeout = 3 * time.Second
	probeEvery    = 2 * time.Second
)

// Watch probes endpoints that do not answer until ctx ends: those that have calls in flight
// and say nothing, and those that are down, whether or not calls wait. A probe is GET
// /models and, where that is answered, a request for one token. One goroutine of a process
// runs it. What it finds is in Standings and Client.Down.
func (s *Endpoints) Watch(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, e := range s.list() {
			e.watch(ctx)
		}
	}
}

// list are the endpoints, in no order.
func (s *Endpoints) list() []*endpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.all))
}

// watch begins a probe where one is due.
func (e *endpoint) watch(ctx context.Context) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	e.judge(now)
	due := e.down != "" || e.suspect(now) > 0
	if !due || e.probing || e.endpointProbe == nil || now.Before(e.nextProbe) || now.Before(e.quiet) {
		return
	}
	e.probing = true
	doubtful := e.down != "" || e.answered.IsZero() || e.suspect(now) > 2*e.longest
	go e.probe(ctx, e.endpointProbe, doubtful, e.answerLimit)
}

// probe asks whether the endpoint is there, and where that is doubtful whether it answers.
func (e *endpoint) probe(ctx context.Context, a *endpointProbe, doubtful bool, limit time.Duration) {
	limit = min(max(limit, answerTimeout), a.longest())
	silent := ""
	got := a.send(ctx, http.MethodGet, "/models", nil, modelsTimeout)
	switch {
	case got.status == 0:
		silent = "no answer to GET /models within " + modelsTimeout.String()
	case doubtful:
		if got = a.word(ctx, limit); got.status == 0 {
			silent = "no answer to a request for one token within " + limit.String()
		}
	}
	if ctx.Err() != nil {
		return
	}
	if e.probed(got.status, silent, doubtful, limit) {
		e.set.redirectWaiters()
	}
}

// probed learns from a probe; back says that the endpoint was down and is up again.
func (e *endpoint) probed(status int, silent string, doubtful bool, limit time.Duration) (back bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	e.probing, e.nextProbe = false, now.Add(probeEvery)
	switch {
	case silent != "":
		e.answerLimit = 2 * limit
		if e.suspect(now) > 0 || e.silent != "" {
			e.silent = silent
		}
	case !doubtful:
		e.spoke = now
	default:
		back = e.learnProbe(ofProbe(status), now)
	}
	e.judge(now)
	return back
}

// learnProbe learns from the answer to a request for one token. e.mu is held.
func (e *endpoint) learnProbe(o outcome, now time.Time) (back bool) {
	e.spoke, e.silent = now, ""
	if !o.reached() || o == busy || o == broken {
		return false
	}
	e.answerLimit, e.refused, e.broke = 0, 0, nil
	if back = e.breaker.live(); back {
		e.limit.restart()
		e.tellBreaker()
	}
	e.admit()
	return back
}

// ofProbe is what the status of a probe says.
func ofProbe(status int) outcome {
	if status == http.StatusOK {
		return answered
	}
	return ofStatus(status)
}

// probeBy has the endpoint probed as a policy asks it.
func (e *endpoint) probeBy(a *endpointProbe) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.endpointProbe = a
}

// at is the policy with one of its addresses alone.
func at(p relabel.Policy, base string) relabel.Policy {
	p.BaseURL, p.Replicas = base, nil
	return p
}

// endpointProbe asks an endpoint as a policy does.
type endpointProbe struct {
	policy  relabel.Policy
	http    *http.Client
	secrets Secrets
}

// longest is how long a probe may take.
func (a *endpointProbe) longest() time.Duration {
	return max(time.Duration(a.policy.Limits.TimeoutSeconds)*time.Second, answerTimeout)
}

// send sends one request; the reply's status is 0 where no answer came within limit. Where the
// policy's secret is missing it goes without a key: a refusal is a sign of life too.
func (a *endpointProbe) send(ctx context.Context, method, path string, body []byte, limit time.Duration) reply {
	secret, err := a.secrets.of(a.policy)
	if err != nil {
		secret = ""
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	b := &prober{policy: a.policy, http: a.http, secret: secret, report: &Report{}}
	return b.sendOnce(ctx, method, path, body)
}

// word asks for one token.
func (a *endpointProbe) word(ctx context.Context, limit time.Duration) reply {
	return a.send(ctx, http.MethodPost, "/chat/completions", appendRequest(nil, bare(a.policy), plainRequest("Say hello.", 1)), limit)
}
