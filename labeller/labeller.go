// Package labeller asks teachers for actions apart from any rollout: another teacher at
// every stored state of a trajectory that is done (a relabeling), and the run's own
// teacher for owed labels through its batch endpoint. It needs no sandbox: a state is
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

	"relabel"
)

const (
	// DefaultLease is how long a claim holds without renewal.
	DefaultLease = 40 * time.Second
	// renewPeriod is between two renewals of a lease, at most: what was cancelled, paused or
	// taken over is let go this soon.
	renewPeriod = time.Second
	// writeLimit bounds one write to the store. Writes are not cut short by a shutdown.
	writeLimit = 30 * time.Second
)

// ErrReleased says that what was claimed was given back, because the worker stops.
var ErrReleased = errors.New("it was given back")

// errLeaseLost ends work that is another's by now, or nobody's.
var errLeaseLost = errors.New("the lease is lost")

// Config is what a Labeller needs.
type Config struct {
	Store Store
	World World
	Owner string        // names this worker; unique among live ones
	Lease time.Duration // 0 means DefaultLease
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
		c.Lease = DefaultLease
	}
	c.Bound = c.Bound.over(DefaultBounds)
	return &Labeller{Config: c, drains: make(chan struct{})}
}

// Drain asks for everything back: what is in hand is answered and stored, and nothing
// more is asked.
func (l *Labeller) Drain() { l.drain.Do(func() { close(l.drains) }) }

func (l *Labeller) draining() bool {
	select {
	case <-l.drains:
		return true
	default:
		return false
	}
}

// hold renews a lease in the background until letGo; it was last known to be whole at
// since. life ends with ctx, and with errLeaseLost as its cause when the lease is lost, or
// could not be renewed for its whole length. Renewal goes on while ctx is cancelled:
// giving back needs a live lease too.
func (l *Labeller) hold(ctx context.Context, since time.Time, renew func(context.Context, time.Duration) error) (life context.Context, letGo func()) {
	life, lose := context.WithCancelCause(ctx)
	beating, stop := context.WithCancel(context.WithoutCancel(ctx))
	var beat sync.WaitGroup
	beat.Go(func() {
		tick := time.NewTicker(min(l.Lease/3, renewPeriod))
		defer tick.Stop()
		for {
			select {
			case <-beating.Done():
				return
			case <-tick.C:
			}
			sent := time.Now()
			renewing, cancel := context.WithTimeout(beating, l.Lease/3)
			err := renew(renewing, l.Lease)
			cancel()
			switch {
			case err == nil:
				since = sent
			case lost(err), time.Since(since) >= l.Lease:
				lose(errLeaseLost)
				return
			case beating.Err() == nil: // the next beat tries again
				l.Log.Warn().Err(err).Msg("a lease could not be renewed")
			}
		}
	})
	return life, func() {
		stop()
		beat.Wait()
		lose(nil)
	}
}

// write writes to the store, uninterrupted by a shutdown.
func write(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	return do(ctx)
}

// lost reports whether err says that another has what was claimed.
func lost(err error) bool {
	return relabel.CodeOf(err) == relabel.CodeLeaseLost || errors.Is(err, errLeaseLost)
}

// stopped returns why ctx ended, if it did, for then err is but what came of that.
func stopped(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}
