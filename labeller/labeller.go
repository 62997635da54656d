// Package labeller requests teacher actions outside of rollouts: from another teacher at every stored
// state of a trajectory that is done (a relabeling), and from the run's own teacher for pending labels
// through its batch endpoint. It also has policies score the tokens of students (a scoring) and
// judge failed trajectories (a judging). It needs no sandbox, since states are stored.
//
// A relabeling, scoring, judging or batch is claimed like a trajectory, with a lease and a fence. Each answer is stored at
// once, so that after the death of a worker the next one requests only the remaining answers.
package labeller

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"relabel/lease"
)

// writeLimit is the time limit of a write to the store. A shutdown does not interrupt writes.
const writeLimit = 30 * time.Second

// ErrReleased means that claimed work was released, for example because the worker stops.
var ErrReleased = errors.New("the lease was released")

// Config is what a Labeller needs.
type Config struct {
	Store Store
	World World
	Owner string        // the name of this worker, unique among live ones
	Lease time.Duration // 0: lease.Default
	Bound BatchBounds   // a zero field: that of DefaultBounds
	Log   zerolog.Logger
}

// Labeller processes relabelings, scorings, judgings and batches. It is safe for concurrent use.
type Labeller struct {
	Config
	drain  sync.Once
	drains chan struct{}
}

// New makes a Labeller. Store, Owner and the functions of World are required.
func New(c Config) *Labeller {
	if c.Lease <= 0 {
		c.Lease = lease.Default
	}
	c.Bound = c.Bound.or(DefaultBounds)
	return &Labeller{Config: c, drains: make(chan struct{})}
}

// Drain requests the release of all work: running requests are answered and stored, and no more are
// sent.
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

// stopped returns why ctx ended, if it did: that caused err.
func stopped(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}
