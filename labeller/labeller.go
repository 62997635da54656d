// Package labeller asks teachers for actions apart from any rollout: another teacher at
// every stored state of a trajectory that is done (a relabeling), and the run's own
// teacher for pending labels through its batch endpoint. It needs no sandbox: a state is
// what is stored.
//
// A relabeling or a batch is claimed like a trajectory, with a lease and a fence; every
// answer is stored by itself, so that what a worker that died leaves is asked for by the
// next one, and nothing else.
package labeller

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"relabel/lease"
)

// writeLimit bounds one write to the store. Writes are not cut short by a shutdown.
const writeLimit = 30 * time.Second

// ErrReleased says that what was claimed was given back, because the worker stops.
var ErrReleased = errors.New("the lease was released")

// Config is what a Labeller needs.
type Config struct {
	Store Store
	World World
	Owner string        // names this worker; unique among live ones
	Lease time.Duration // 0 means lease.Default
	Bound BatchBounds   // zero fields mean those of DefaultBounds
	Log   zerolog.Logger
}

// Labeller works relabelings and batches off. It is safe for concurrent use.
type Labeller struct {
	Config
	drain  sync.Once
	drains chan struct{}
}

// New makes a Labeller. Store, World's functions and Owner must be there.
func New(c Config) *Labeller {
	if c.Lease <= 0 {
		c.Lease = lease.Default
	}
	c.Bound = c.Bound.over(DefaultBounds)
	return &Labeller{Config: c, drains: make(chan struct{})}
}

// Drain asks for everything back: what is in hand is answered and stored, and nothing
// more is asked.
func (l *Labeller) Drain() { l.drain.Do(func() { close(l.drains) }) }

// closed reports whether a channel that carries no values is closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// write writes to the store, uninterrupted by a shutdown.
func write(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	return do(ctx)
}

// stopped returns why ctx ended, if it did, for then err is but what came of that.
func stopped(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}
