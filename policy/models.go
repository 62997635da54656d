package policy

import (
	"context"
	"sync"

	"relabel"
)

// mostModels bounds how many models are remembered: a server may make up a fingerprint for each
// answer.
const mostModels = 100

// models remembers which models have answered, and reports new ones.
type models struct {
	tell func(context.Context, relabel.ModelSeen) error
	mu   sync.Mutex
	seen map[relabel.ModelSeen]bool
}

// see reports the model that gave done at base, if it has not been told of before.
func (c *Client) see(ctx context.Context, base string, done relabel.Completion) error {
	m := relabel.ModelSeen{PolicyID: c.policy.ID, BaseURL: base, Model: done.Model, Fingerprint: done.Fingerprint}
	if c.models.tell == nil || m.Model == "" && m.Fingerprint == "" || !c.models.isNew(m) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
	defer cancel()
	if err := c.models.tell(ctx, m); err != nil {
		c.models.forget(m)
		return relabel.Errorf(relabel.CodeUnavailable, "the model behind %s could not be recorded", c.policy.Name).Because(err)
	}
	return nil
}

func (s *models) isNew(m relabel.ModelSeen) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[m] || len(s.seen) >= mostModels {
		return false
	}
	if s.seen == nil {
		s.seen = map[relabel.ModelSeen]bool{}
	}
	s.seen[m] = true
	return true
}

// forget lets the next answer report m again.
func (s *models) forget(m relabel.ModelSeen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, m)
}
