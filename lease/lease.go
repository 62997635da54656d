// Package lease keeps leases: it renews the lease of a claimed piece of work in the
// background and ends the work when the lease is lost.
package lease

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"relabel"
)

const (
	// Default is how long a claim holds without renewal.
	Default = 40 * time.Second
	// renewPeriod bounds the time between two renewals, and so how long cancelled or lost
	// work goes on.
	renewPeriod = time.Second
)

// errLost is the cause of a context whose lease is lost.
var errLost = errors.New("the lease is lost")

// Renew extends a lease by length. CodeLeaseLost: another owner has it, or nobody.
type Renew func(ctx context.Context, length time.Duration) error

// Keep renews a lease in the background until release; the lease was last known to hold its
// whole length at since. life ends with ctx, and when the lease is lost or could not be
// renewed for its whole length: Lost tells. Renewal continues while ctx is cancelled,
// because releasing the work needs a live lease too.
func Keep(ctx context.Context, since time.Time, length time.Duration, renew Renew, log zerolog.Logger) (life context.Context, release func()) {
	life, lose := context.WithCancelCause(ctx)
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	var renewals sync.WaitGroup
	renewals.Go(func() {
		tick := time.NewTicker(min(length/3, renewPeriod))
		defer tick.Stop()
		for {
			select {
			case <-renewing.Done():
				return
			case <-tick.C:
			}
			sent := time.Now()
			one, cancel := context.WithTimeout(renewing, min(length/3, length-sent.Sub(since)))
			err := renew(one, length)
			cancel()
			switch {
			case err == nil:
				since = sent
			case Lost(err), time.Since(since) >= length:
				lose(errLost)
				return
			case renewing.Err() == nil: // the next tick tries again
				log.Warn().Err(err).Msg("a lease could not be renewed")
			}
		}
	})
	return life, func() {
		stop()
		renewals.Wait()
		lose(nil)
	}
}

// Lost reports whether err says that the lease is lost.
func Lost(err error) bool {
	return relabel.CodeOf(err) == relabel.CodeLeaseLost || errors.Is(err, errLost)
}
