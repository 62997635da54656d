package main

import (
	"context"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/policy"
	"relabel/shard/tokenizers"
	"relabel/worker"
)

// policies are the clients of this process, one per policy version. They share endpoints, so
// that the limits of an address apply to all.
type policies struct {
	*worker.Clients
	options policy.Options
	counter *tokenizers.Counter
}

func newPolicies(db *database, secrets string, res resources, m *worker.Metrics, log zerolog.Logger) *policies {
	options := policy.Options{
		Secrets: policy.Secrets{Dir: secrets},
		Endpoints: policy.NewEndpoints(policy.Observe{InFlight: m.Endpoints.InFlight, Waiting: m.Endpoints.Waiting, Breaker: m.Breaker(log),
			Tried: func(_ string, t policy.Try) { m.Requested(worker.Request(t)) }}),
		Seen:      worker.ModelLog(db.RecordModel, log),
		Transport: res.rule.Transport,
	}
	connect := func(p relabel.Policy, record worker.RecordCall) (worker.Client, error) {
		own := options
		own.Record = record
		return policy.Open(p, own)
	}
	return &policies{worker.NewClients(worker.ClientsConfig{Connect: connect, Record: db.RecordCall, Metrics: m}), options, tokenizers.NewCounter(res.tokenizers)}
}

// count is a chat.CountPrompt: it counts the state as it is sent to the policy's endpoint.
func (p *policies) count(ctx context.Context, def relabel.Policy, state []relabel.Message, tools []relabel.Tool) (int, error) {
	state, tools = policy.Sent(def, state, tools)
	return p.counter.Count(ctx, def, state, tools)
}
