package main

import (
	"context"
	"sync"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/mixer"
	"relabel/policy"
)

// policies shares one client a policy version, and one set of endpoints, so that their
// limits hold in the process.
type policies struct {
	options policy.Options
	mu      sync.Mutex
	clients map[relabel.ID]*policy.Client
}

func newPolicies(db *database, secrets string, log zerolog.Logger) *policies {
	return &policies{
		options: policy.Options{
			Secrets:   policy.Secrets{Dir: secrets},
			Endpoints: policy.NewEndpoints(policy.Observe{Breaker: logBreaker(log)}),
			Record:    db.RecordCall,
			Seen:      recordModel(db, log),
		},
		clients: map[relabel.ID]*policy.Client{},
	}
}

func (p *policies) open(def relabel.Policy) (mixer.Policy, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c, ok := p.clients[def.ID]; ok {
		return c, nil
	}
	c, err := policy.Open(def, p.options)
	if err != nil {
		return nil, err
	}
	p.clients[def.ID] = c
	return c, nil
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
