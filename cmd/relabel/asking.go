package main

import (
	"context"
	"sync"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/mixer"
	"relabel/policy"
	"relabel/shard/tokenizers"
)

// policies shares one client a policy version, and one set of endpoints, so that their
// limits hold in the process.
type policies struct {
	options policy.Options
	counter *tokenizers.Counter
	record  func(context.Context, relabel.Call) error
	metrics *metrics
	mu      sync.Mutex
	clients map[relabel.ID]*policy.Client
}

func newPolicies(db *database, secrets string, res resources, m *metrics, log zerolog.Logger) *policies {
	return &policies{
		options: policy.Options{
			Secrets:   policy.Secrets{Dir: secrets},
			Endpoints: policy.NewEndpoints(m.ofEndpoints(log)),
			Seen:      recordModel(db, log),
			Transport: res.rule.Transport,
		},
		counter: tokenizers.NewCounter(res.tokenizers),
		record:  db.RecordCall,
		metrics: m,
		clients: map[relabel.ID]*policy.Client{},
	}
}

func (p *policies) open(def relabel.Policy) (mixer.Policy, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c, ok := p.clients[def.ID]; ok {
		return c, nil
	}
	options := p.options
	options.Record = p.recordFor(def)
	c, err := policy.Open(def, options)
	if err != nil {
		return nil, err
	}
	p.clients[def.ID] = c
	return c, nil
}

// count is a chat.CountPrompt: it counts the state as the policy's endpoint is sent it.
func (p *policies) count(ctx context.Context, def relabel.Policy, state []relabel.Message, tools []relabel.Tool) (int, error) {
	state, tools = policy.Sent(def, state, tools)
	return p.counter.Count(ctx, def, state, tools)
}

// recordFor keeps the calls of a policy, and counts what they cost.
func (p *policies) recordFor(def relabel.Policy) func(context.Context, relabel.Call) error {
	return func(ctx context.Context, call relabel.Call) error {
		if call.CostMicros != nil && def.Price != nil {
			p.metrics.cost.WithLabelValues(def.Name, def.Price.Currency).Add(float64(*call.CostMicros) / 1e6)
		}
		return p.record(ctx, call)
	}
}

// logBreaker says when an endpoint goes and comes back.
func logBreaker(log zerolog.Logger) func(endpoint string, down error) {
	return func(endpoint string, down error) {
		if down == nil {
			log.Info().Str("endpoint", endpoint).Msg("the endpoint is back")
			return
		}
		log.Warn().Str("endpoint", endpoint).Err(down).Msg("the endpoint is down; its calls wait")
	}
}

// recordModel keeps which model answered, and says so where it is another one than before.
func recordModel(db *database, log zerolog.Logger) func(context.Context, relabel.ModelSeen) error {
	return func(ctx context.Context, m relabel.ModelSeen) error {
		changed, err := db.RecordModel(ctx, m)
		if changed {
			log.Warn().Stringer("policy", m.PolicyID).Str("endpoint", m.BaseURL).Str("model", m.Model).Str("fingerprint", m.Fingerprint).
				Msg("the model behind an endpoint changed")
		}
		return err
	}
}
