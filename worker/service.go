// Package worker runs the background work of a process: services that run periodically, the
// regrading of stored submissions, and the orderly shutdown of all of it. A service is a
// struct with a checked config, Start, Stop, and RunNow, which runs it once.
package worker

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Service is a background task of a process.
type Service interface {
	// Start runs the task until Stop, also after ctx's end. It may be called once.
	Start(ctx context.Context)
	// Stop ends the task and waits for its end. It is safe to call without Start.
	Stop()
}

// Task is a function that a service calls every period. A failed call is logged and retried by the next.
type Task struct {
	Period  time.Duration
	Delayed bool // the first call is after a period, not at the start
	Run     func(context.Context) error
	Failure string // is logged when Run fails
	Log     zerolog.Logger
}

// Service returns the task as a service.
func (t Task) Service() Service { return &periodic{Task: t} }

// periodic is a service that runs a task.
type periodic struct {
	Task
	cancel context.CancelFunc
	loop   sync.WaitGroup
}

// Start runs the task until Stop, also after ctx's end.
func (p *periodic) Start(ctx context.Context) {
	ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.loop.Go(func() {
		ticker := time.NewTicker(p.Period)
		defer ticker.Stop()
		for first := true; ; first = false {
			if !(first && p.Delayed) {
				if err := p.Run(ctx); err != nil && ctx.Err() == nil {
					p.Log.Warn().Err(err).Msg(p.Failure)
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	})
}

// Stop ends the task and waits for its end.
func (p *periodic) Stop() {
	if p.cancel != nil {
		p.cancel()
	}
	p.loop.Wait()
}

// require returns an error that names the first field of a service's config that is not set.
func require(service string, fields ...requirement) error {
	for _, f := range fields {
		if !f.set {
			return fmt.Errorf("%s: %s is not set", service, f.name)
		}
	}
	return nil
}

// requirement is a field that a config must set.
type requirement struct {
	name string
	set  bool
}
