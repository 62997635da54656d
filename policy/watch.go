package policy

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"relabel"
)

// Timeouts of probes. The timeout for an answer doubles with each unanswered probe, up to the
// policy's own, so that a slow server is found too.
const (
	modelsTimeout = 3 * time.Second
	answerTimeout = 3 * time.Second
	probeEvery    = 2 * time.Second
)

// Watch probes, until ctx ends, the endpoints that are down or silent with calls in flight. A probe
// is GET /models and, if that is answered, a request for one token. One goroutine of a process
// runs it. Standings and Client.Down return the results.
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

// list returns the endpoints, unordered.
func (s *Endpoints) list() []*endpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.all))
}

// watch starts a probe if one is due.
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

// probe checks whether the endpoint is reachable and, if doubtful, whether it answers.
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

// probed updates the state with the result of a probe; back reports that the endpoint was down and
// is up again.
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

// learnProbe updates the state with the answer to a request for one token. e.mu is held.
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

// ofProbe is the outcome of a probe by its status.
func ofProbe(status int) outcome {
	if status == http.StatusOK {
		return answered
	}
	return ofStatus(status)
}

// probeBy sets how to probe the endpoint.
func (e *endpoint) probeBy(a *endpointProbe) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.endpointProbe = a
}

// at is the policy with only one of its addresses.
func at(p relabel.Policy, base string) relabel.Policy {
	p.BaseURL, p.Replicas = base, nil
	return p
}

// endpointProbe asks an endpoint like a policy.
type endpointProbe struct {
	policy  relabel.Policy
	http    *http.Client
	secrets Secrets
}

// longest is how long a probe may take.
func (a *endpointProbe) longest() time.Duration {
	return max(time.Duration(a.policy.Limits.TimeoutSeconds)*time.Second, answerTimeout)
}

// send sends one request; the reply's status is 0 without an answer within limit. If the policy's
// secret is missing it sends no key: a refusal is a sign of life too.
func (a *endpointProbe) send(ctx context.Context, method, path string, body []byte, limit time.Duration) reply {
	secret, _ := a.secrets.of(a.policy)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	b := &prober{policy: a.policy, http: a.http, secret: secret, report: &Report{}}
	return b.sendOnce(ctx, method, path, body)
}

// word asks for one token.
func (a *endpointProbe) word(ctx context.Context, limit time.Duration) reply {
	return a.send(ctx, http.MethodPost, "/chat/completions", appendRequest(nil, bare(a.policy), plainRequest("Say hello.", 1)), limit)
}
