package policy

import (
	"context"
	"sync"

	"relabel"
)

// maxModels is how many models are remembered: a server may invent a fingerprint for each answer.
const maxModels = 100

// models remembers which models have answered, and reports new ones.
type models struct {
	report func(context.Context, relabel.ModelSeen) error
	mu     sync.Mutex
	seen   map[relabel.ModelSeen]bool
}

// see reports the model that gave done at base, unless it was reported before.
func (c *Client) see(ctx context.Context, base string, done relabel.Completion) error {
	m := relabel.ModelSeen{PolicyID: c.policy.ID, BaseURL: base, Model: done.Model, Fingerprint: done.Fingerprint}
	if c.models.report == nil || m.Model == "" && m.Fingerprint == "" || !c.models.isNew(m) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
	defer cancel()
	if err := c.models.report(ctx, m); err != nil {
		c.models.forget(m)
		return relabel.Errorf(relabel.CodeUnavailable, "the model behind %s could not be recorded", c.policy.Name).Because(err)
	}
	return nil
}

func (s *models) isNew(m relabel.ModelSeen) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[m] || len(s.seen) >= maxModels {
		return false
	}
	if s.seen == nil {
		s.seen = map[relabel.ModelSeen]bool{}
	}
	s.seen[m] = true
	return true
}

// forget allows the next answer to report m again.
func (s *models) forget(m relabel.ModelSeen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, m)
}
