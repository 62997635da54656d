package main

import (
	"context"

	"relabel"
	"relabel/envs/scaffold"
	"relabel/labeller"
	"relabel/mixer/schedule"
	"relabel/policy"
	"relabel/shard/tokenizers"
	"relabel/worker"
	"relabel/worker/tracing"
)

// policies are the clients of this process, one per policy version. They share endpoints, so
// that the limits of an address apply to all.
type policies struct {
	*worker.Clients
	options policy.Options
	counter *tokenizers.Counter
}

// newPolicies returns clients that read their keys from the folder secrets. Their calls are traced.
func (p *process) newPolicies(secrets string, traces *tracing.Tracer) *policies {
	m := p.metrics
	options := policy.Options{
		Secrets: policy.Secrets{Dir: secrets},
		Endpoints: policy.NewEndpoints(policy.Observe{
			InFlight: m.Endpoints.InFlight,
			Waiting:  m.Endpoints.Waiting,
			Breaker:  m.Breaker(p.log),
			Tried:    func(_ string, t policy.Try) { m.Requested(worker.Request(t)) },
		}),
		Seen:      worker.ModelLog(p.db.RecordModel, p.log),
		Transport: p.rule.Transport,
	}
	connect := func(of relabel.Policy, record worker.RecordCall) (worker.Client, error) {
		own := options
		own.Record = record
		client, err := policy.Open(of, own)
		if err != nil {
			return nil, err
		}
		return traces.Client(of, client), nil
	}
	clients := worker.NewClients(worker.ClientsConfig{Connect: connect, Record: p.db.RecordCall, Metrics: m})
	return &policies{clients, options, tokenizers.NewCounter(p.tokenizers)}
}

// count is a chat.CountPrompt: it counts the state as it is sent to the policy's endpoint.
func (p *policies) count(ctx context.Context, def relabel.Policy, state []relabel.Message, tools []relabel.Tool) (int, error) {
	state, tools = policy.Sent(def, state, tools)
	return p.counter.Count(ctx, def, state, tools)
}

// newLabeller returns what requests labels outside of rollouts.
func (w *work) newLabeller() *labeller.Labeller {
	return labeller.New(labeller.Config{Store: w.db.Store, Owner: w.me.Name, Lease: w.flags.Lease, Log: w.log, World: labeller.World{
		Policy:    func(p relabel.Policy) (labeller.Policy, error) { return w.policies.Open(p) },
		Down:      w.policies.Down,
		Count:     w.policies.count,
		Tokenizer: w.tokenizers.OfPolicy,
		Batches: func(p relabel.Policy) (labeller.Batches, error) {
			return policy.OpenBatches(p, w.policies.options)
		},
		Parse: scaffold.Parse,
		Seed: func(run relabel.Run, tr relabel.Trajectory, t int, role relabel.Role) int64 {
			place := schedule.Place{Seed: run.Seed, Kind: tr.Kind, Iteration: tr.Iteration, Instance: tr.InstanceID, Generation: tr.Generation}
			return schedule.CallSeed(place, t, role)
		},
		Record:   w.db.RecordCall,
		Answered: w.traces.BatchAnswer,
		Ended:    w.traces.Batch,
	}})
}
