// Package policy asks chat-completions endpoints for actions: one Client per policy version, over
// net/http and without streaming. It limits concurrent calls, retries if that may help, keeps answers
// byte for byte, and records every call. Package scripted has policies that need no model.
package policy

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"relabel"
	"relabel/api"
)

// recordLimit is the time limit for recording a call whose own context has ended.
const recordLimit = 10 * time.Second

// Options are the surroundings of a Client.
type Options struct {
	Secrets Secrets
	// Endpoints are shared by all clients of a process; nil gives this client its own.
	Endpoints *Endpoints
	// Record stores a call; nil stores none. It is called once for each Complete, and again
	// for a second request to another replica. It must be safe for concurrent use.
	Record func(context.Context, relabel.Call) error
	// Seen, unless it is nil, reports the first answer of a model at an address to this client. It
	// must be safe for concurrent use.
	Seen func(context.Context, relabel.ModelSeen) error
	// HTTP replaces a client with the default transport (proxies from the environment, the
	// system's certificates). Its CheckRedirect is ignored: redirects are never followed.
	HTTP *http.Client
	// Transport makes the transport of each client if HTTP is nil; nil: the default one.
	Transport func() *http.Transport
}

// transport makes a transport.
func (o Options) transport() *http.Transport {
	if o.Transport != nil {
		return o.Transport()
	}
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		return t.Clone()
	}
	return &http.Transport{Proxy: http.ProxyFromEnvironment}
}

// check validates p and returns its secret. Errors are CodeInvalid with the wrong field, or
// CodeSecretMissing.
func (o Options) check(p relabel.Policy) (secret string, err error) {
	if err := api.CheckPolicy(p); err != nil {
		return "", err
	}
	return o.Secrets.of(p)
}

// Client asks one policy version for actions. It is safe for concurrent use and is meant to be
// shared. Endpoints limit its calls.
type Client struct {
	policy    relabel.Policy
	http      *http.Client
	secrets   Secrets
	record    func(context.Context, relabel.Call) error
	endpoints *Endpoints
	replicas  []*lane
	models    models
}

// Open checks p and makes a Client for it. It sends nothing. Errors are CodeInvalid with the wrong
// field, or CodeSecretMissing.
func Open(p relabel.Policy, o Options) (*Client, error) {
	if _, err := o.check(p); err != nil {
		return nil, err
	}
	c := &Client{
		policy:    p,
		http:      withoutRedirects(o, p.Limits.Concurrency),
		secrets:   o.Secrets,
		record:    o.Record,
		endpoints: o.Endpoints,
		models:    models{report: o.Seen},
	}
	if c.endpoints == nil {
		c.endpoints = NewEndpoints(Observe{})
	}
	for _, base := range p.BaseURLs() {
		l := c.endpoints.join(base, p)
		l.at.probeBy(&endpointProbe{policy: at(p, base), http: c.http, secrets: c.secrets})
		c.replicas = append(c.replicas, l)
	}
	return c, nil
}

// withoutRedirects copies o's client, or makes one. A redirect would send the conversation, and on
// the same domain the key, to an address that the policy does not name.
func withoutRedirects(o Options, connections int) *http.Client {
	var own http.Client
	if o.HTTP != nil {
		own = *o.HTTP
	} else {
		t := o.transport()
		t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, connections // the default keeps 100 in all
		own.Transport = t
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// Complete asks for the action at req's state, retries within the policy's limits, and records the
// call, whatever its outcome. While the endpoint is full, calls whose action is executed come before
// labels, and raised labels before others. While it is down or busy, the call waits for it within the
// policy's patience.
//
// Errors are CodeContextOverflow if the state is too long for the endpoint, CodeEndpoint if no answer
// is available (wrapping the context's error if that ended), CodeSecretMissing, and CodeUnavailable if
// the call could not be recorded.
func (c *Client) Complete(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
	call := c.newCall(req)
	a, err := c.ask(ctx, completionCall{req: req, bytes: roughSize(req.Messages, req.Tools)}, &call)
	done := a.done
	call.Millis = time.Since(call.StartedAt).Milliseconds()
	if err != nil {
		call.Error = err.Error()
		if lost := c.keep(ctx, call); lost != nil {
			return relabel.Completion{}, errors.Join(lost, err) // its code first: a retry may be recorded
		}
		return done, err
	}
	done = understood(c.policy, req, done)
	answer := done
	record := func() error {
		if err := c.keep(ctx, call); err != nil {
			return err
		}
		return c.see(ctx, call.BaseURL, answer)
	}
	if req.Beside {
		done.Recorded = sync.OnceValue(record)
		go done.Recorded()
		return done, nil
	}
	if err := record(); err != nil {
		return relabel.Completion{}, err
	}
	return done, nil
}

func (c *Client) newCall(req relabel.ChatRequest) relabel.Call {
	call := relabel.Call{ID: relabel.NewID(), PolicyID: c.policy.ID, Attempt: req.Attempt, T: req.T,
		Purpose: req.Purpose, StartedAt: time.Now(), Size: req.Size,
		Sampling: sent(c.policy.Server, req.Sampling)}
	if req.TrajectoryID != (relabel.ID{}) {
		call.TrajectoryID = &req.TrajectoryID
	}
	return call
}

// keep records a call, also if its context has ended.
func (c *Client) keep(ctx context.Context, call relabel.Call) error {
	if c.record == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
	defer cancel()
	err := c.record(ctx, call)
	if err == nil {
		return nil
	}
	var known *relabel.Error
	if errors.As(err, &known) && (known.Code == relabel.CodeInternal || known.Code == relabel.CodeInvalid) { // a retry would be refused too
		return relabel.Errorf(relabel.CodeInternal, "the call to %s could not be recorded: %s", c.policy.Name, known.Message).Because(err)
	}
	return relabel.Errorf(relabel.CodeUnavailable, "the call to %s could not be recorded", c.policy.Name).Because(err)
}

// ask tries q, which has the request and its size, until an answer arrives, retrying is useless, or the
// limits are reached. It adds the attempts to call, and returns the one that was answered.
func (c *Client) ask(ctx context.Context, q completionCall, call *relabel.Call) (attempt, error) {
	secret, err := c.secrets.of(c.policy)
	if err != nil {
		return attempt{}, err
	}
	if q.req.Clock != nil {
		q.req.Clock.Stop()
	}
	q.secret, q.replicas = secret, affinity(c.replicas, q.req.TrajectoryID)
	q.arrived, q.lost = c.endpoints.arrivals.Add(1), map[string]int{}
	for {
		a, loser := c.hedge(ctx, q)
		if loser != nil {
			call.Hedged = true
			if err := c.keepLoser(ctx, q.req, *loser); err != nil {
				return attempt{}, err
			}
		}
		c.write(call, a)
		q.waited(a)
		switch {
		case errors.Is(a.err, errElsewhere):
			continue
		case errors.Is(a.err, errDown):
			return attempt{}, c.failed("the endpoint was down for longer than the policy's patience of %d s", c.policy.Limits.PatienceSeconds).Because(a.err)
		case a.answered():
			return a, nil
		case a.err != nil || ctx.Err() != nil:
			return attempt{}, c.cancelled(cmp.Or(a.err, ctx.Err()))
		case !q.settle(a, c.patience(), c.policy.Limits.Retries):
			return attempt{}, a.fail.err
		case a.down:
			continue // the breaker decides when the next try may start
		case a.quiet && choose(q.replicas).at.wait() == 0:
			continue // to a replica that has not asked for a pause
		}
		if err := pause(ctx, call.Tries); err != nil {
			return attempt{}, c.cancelled(err)
		}
	}
}

// write adds an attempt to the call's record.
func (c *Client) write(call *relabel.Call, a attempt) {
	call.QueueMillis += a.queued.Milliseconds()
	if a.begun.IsZero() {
		return
	}
	if call.Tries == 0 {
		call.StartedAt = a.begun
	}
	call.Tries++
	call.BaseURL, call.Status = a.base, a.status
	if a.fail != nil {
		call.ErrorBody = a.fail.body
		return
	}
	call.FinishReason, call.Usage, call.Model = a.done.FinishReason, a.done.Usage, a.done.Model
	call.Clamped = a.done.Clamped
	call.CostMicros = c.policy.Price.CostMicros(a.done.Usage)
}

// keepLoser records the request that another replica overtook, in addition to the call.
func (c *Client) keepLoser(ctx context.Context, req relabel.ChatRequest, a attempt) error {
	call := c.newCall(req)
	call.Hedged, call.Error = true, "another replica answered first"
	if a.fail != nil && !a.left {
		call.Error = a.fail.err.Error()
	}
	c.write(&call, a)
	call.Millis = a.took.Milliseconds()
	return c.keep(ctx, call)
}

// cancelled is the error of a call whose context ended.
func (c *Client) cancelled(cause error) error {
	return relabel.Errorf(relabel.CodeEndpoint, "the call to %s was cancelled", c.policy.Name).Because(cause)
}
