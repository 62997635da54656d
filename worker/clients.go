package worker

import (
	"context"
	"errors"
	"sync"

	"github.com/rs/zerolog"

	"relabel"
)

// Client calls the endpoints of a policy.
type Client interface {
	Complete(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error)
	Score(ctx context.Context, req relabel.ScoreRequest) ([]relabel.Score, error)
	// Down returns why no endpoint is available, "" if one is. changed is closed when that
	// may have changed.
	Down() (why string, changed <-chan struct{})
}

// RecordCall stores a call.
type RecordCall func(ctx context.Context, call relabel.Call) error

// ClientsConfig is what Clients need.
type ClientsConfig struct {
	Connect func(p relabel.Policy, record RecordCall) (Client, error) // returns a policy's client
	Record  RecordCall
	Metrics *Metrics
}

// Clients has one client per policy version, so that its limits apply to the whole process.
type Clients struct {
	ClientsConfig
	mu      sync.Mutex
	clients map[relabel.ID]Client
}

// NewClients returns Clients.
func NewClients(c ClientsConfig) *Clients {
	return &Clients{ClientsConfig: c, clients: map[relabel.ID]Client{}}
}

// Open returns the client of a policy.
func (c *Clients) Open(p relabel.Policy) (Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if client := c.clients[p.ID]; client != nil {
		return client, nil
	}
	client, err := c.Connect(p, c.recordFor(p))
	if err == nil {
		c.clients[p.ID] = client
	}
	return client, err
}

// Down returns why no endpoint of a policy is available, "" if one is or none was called yet.
func (c *Clients) Down(p relabel.Policy) (why string, changed <-chan struct{}) {
	c.mu.Lock()
	client := c.clients[p.ID]
	c.mu.Unlock()
	if client == nil {
		return "", nil
	}
	return client.Down()
}

// recordFor stores the calls of a policy and counts their cost.
func (c *Clients) recordFor(p relabel.Policy) RecordCall {
	return func(ctx context.Context, call relabel.Call) error {
		if call.CostMicros != nil && p.Price != nil {
			c.Metrics.cost.WithLabelValues(p.Name, p.Price.Currency).Add(float64(*call.CostMicros) / 1e6)
		}
		return c.Record(ctx, call)
	}
}

// Breaker returns a function that logs and shows when an endpoint goes down and comes back.
func (m *Metrics) Breaker(log zerolog.Logger) func(url string, down error) {
	return func(url string, down error) {
		if down == nil {
			log.Info().Str("endpoint", url).Msg("the endpoint is back")
			m.Endpoints.Down(url, "")
			return
		}
		log.Warn().Str("endpoint", url).Err(down).Msg("the endpoint is down; its calls wait")
		m.Endpoints.Down(url, publicText(down))
	}
}

// publicText returns an error's text without its cause, which is only logged.
func publicText(err error) string {
	var known *relabel.Error
	if errors.As(err, &known) {
		return known.Message
	}
	return "it does not answer"
}

// ModelLog returns a function that stores which model answered and logs a change.
func ModelLog(record func(context.Context, relabel.ModelSeen) (changed bool, err error), log zerolog.Logger) func(context.Context, relabel.ModelSeen) error {
	return func(ctx context.Context, m relabel.ModelSeen) error {
		changed, err := record(ctx, m)
		if changed {
			log.Warn().Stringer("policy", m.PolicyID).Str("endpoint", m.BaseURL).Str("model", m.Model).Str("fingerprint", m.Fingerprint).
				Msg("the model behind an endpoint changed")
		}
		return err
	}
}
