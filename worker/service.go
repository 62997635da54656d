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

// periodic runs a task every period. A failed run is logged and retried by the next one.
type periodic struct {
	period  time.Duration
	delayed bool // the first run is after a period, not at the start
	run     func(context.Context) error
	failure string // what is logged of a failed run
	log     zerolog.Logger

	cancel context.CancelFunc
	loop   sync.WaitGroup
}

// Task is a service that only calls a function.
type Task struct {
	Period  time.Duration
	Delayed bool // the first call is after a period, not at the start
	Run     func(context.Context) error
	Failure string // is logged when Run fails
	Log     zerolog.Logger
}

// Service returns the task as a service.
func (t Task) Service() Service {
	return &periodic{period: t.Period, delayed: t.Delayed, run: t.Run, failure: t.Failure, log: t.Log}
}

// Start runs the task until Stop, also after ctx's end.
func (p *periodic) Start(ctx context.Context) {
	ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.loop.Go(func() {
		ticker := time.NewTicker(p.period)
		defer ticker.Stop()
		for first := true; ; first = false {
			if !(first && p.delayed) {
				if err := p.run(ctx); err != nil && ctx.Err() == nil {
					p.log.Warn().Err(err).Msg(p.failure)
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
