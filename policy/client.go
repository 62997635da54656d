// Package policy asks chat-completions endpoints for actions: one Client a policy
// version, over net/http and without streaming. It bounds what is in flight, tries
// again where that can help, keeps answers byte for byte, and records every call.
// Policies that need no model are in policy/scripted.
package policy

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"relabel"
)

// recordLimit bounds the recording of a call whose own context has ended.
const recordLimit = 10 * time.Second

// Options are what a Client needs of its surroundings.
type Options struct {
	Secrets Secrets
	// Record keeps a call; nil keeps none. It is called once for each Complete, from
	// the same goroutine, and must be safe for concurrent use.
	Record func(context.Context, relabel.Call) error
	// HTTP is used in place of a client with the default transport (proxies from the
	// environment, the system's certificates). Its CheckRedirect is not asked:
	// redirects are never followed.
	HTTP *http.Client
}

// Client asks one policy version for actions. It is safe for concurrent use, and is
// meant to be shared: the policy's concurrency limit holds for each Client.
type Client struct {
	policy  relabel.Policy
	url     string // of /chat/completions
	http    *http.Client
	secrets Secrets
	record  func(context.Context, relabel.Call) error
	gate    *gate
	quiet   quiet
	clock   clock
}

// Open checks p and makes a Client for it. Nothing is sent. Errors are CodeInvalid
// with the wrong field, or CodeSecretMissing.
func Open(p relabel.Policy, o Options) (*Client, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if _, err := o.Secrets.of(p); err != nil {
		return nil, err
	}
	return &Client{
		policy:  p,
		url:     strings.TrimRight(p.BaseURL, "/") + "/chat/completions",
		http:    withoutRedirects(o.HTTP, p.Limits.Concurrency),
		secrets: o.Secrets,
		record:  o.Record,
		gate:    newGate(p.Limits.Concurrency),
		clock:   systemClock,
	}, nil
}

// withoutRedirects copies c, or makes a default client. A redirect would carry the
// conversation, and on the same domain the key, to where the policy does not point.
func withoutRedirects(c *http.Client, connections int) *http.Client {
	var own http.Client
	if c != nil {
		own = *c
	} else if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t = t.Clone()
		t.MaxIdleConnsPerHost = connections
		own.Transport = t
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// Complete asks for the action at req's state, trying again within the policy's
// limits, and records the call, whatever becomes of it. Calls whose action is executed
// go before labels when the policy's limit is reached.
//
// Errors are CodeContextOverflow when the endpoint says that the state is too long,
// CodeEndpoint when no answer is to be had (wrapping the context's error when that
// ended), CodeSecretMissing, and CodeUnavailable when the call could not be recorded.
func (c *Client) Complete(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
	call := relabel.Call{ID: relabel.NewID(), PolicyID: c.policy.ID, Attempt: req.Attempt, T: req.T,
		Purpose: req.Purpose, StartedAt: c.clock.now()}
	if req.TrajectoryID != (relabel.ID{}) {
		call.TrajectoryID = &req.TrajectoryID
	}
	done, err := c.ask(ctx, req, &call)
	call.Millis = c.clock.now().Sub(call.StartedAt).Milliseconds()
	if err != nil {
		call.Error = err.Error()
	}
	if err == nil {
		done = understood(c.policy, req, done)
	}
	if lost := c.keep(ctx, call); lost != nil {
		return relabel.Completion{}, errors.Join(lost, err) // its code first: asked again later, it may be recorded
	}
	return done, err
}

// keep records a call, also when its context has ended.
func (c *Client) keep(ctx context.Context, call relabel.Call) error {
	if c.record == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
	defer cancel()
	if err := c.record(ctx, call); err != nil {
		return relabel.Errorf(relabel.CodeUnavailable, "the call to %s could not be recorded", c.policy.Name).Because(err)
	}
	return nil
}

// ask tries until there is an answer, a failure that trying again does not mend, or
// no try left, and writes into call what happened.
func (c *Client) ask(ctx context.Context, req relabel.ChatRequest, call *relabel.Call) (relabel.Completion, error) {
	secret, err := c.secrets.of(c.policy)
	if err != nil {
		return relabel.Completion{}, err
	}
	for {
		done, fail, err := c.tryInTurn(ctx, req, secret, call)
		switch {
		case err != nil:
			return relabel.Completion{}, c.givenUp(err)
		case fail == nil:
			call.FinishReason, call.Usage, call.Model = done.FinishReason, done.Usage, done.Model
			return done, nil
		case ctx.Err() != nil:
			return relabel.Completion{}, c.givenUp(ctx.Err())
		case call.Tries > min(fail.retries, c.policy.Limits.Retries):
			return relabel.Completion{}, fail.err
		}
		if err := c.pause(ctx, call.Tries, fail); err != nil {
			return relabel.Completion{}, c.givenUp(err)
		}
	}
}

// tryInTurn tries once, as soon as the gate has a place and the endpoint wants to hear
// from us. Between its tries a call has no place: a label that waits for its next try
// must not hold up a call that a rollout waits for. An error is ctx's.
func (c *Client) tryInTurn(ctx context.Context, req relabel.ChatRequest, secret string, call *relabel.Call) (relabel.Completion, *failure, error) {
	if err := c.gate.enter(ctx, req.Purpose != relabel.PurposeLabel); err != nil {
		return relabel.Completion{}, nil, err
	}
	defer c.gate.leave()
	if call.Tries == 0 {
		call.StartedAt = c.clock.now()
	}
	if err := c.quiet.wait(ctx, c.clock); err != nil {
		return relabel.Completion{}, nil, err
	}
	call.Tries++
	done, status, fail := c.try(ctx, appendRequest(nil, c.policy, req), secret)
	call.Status = status
	if fail != nil {
		call.ErrorBody = fail.body
	}
	return done, fail, nil
}

// givenUp is the error of a call whose context ended.
func (c *Client) givenUp(cause error) error {
	return relabel.Errorf(relabel.CodeEndpoint, "the call to %s was given up", c.policy.Name).Because(cause)
}
