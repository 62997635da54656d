package labeller

import (
	"context"
	"time"

	"relabel"
	"relabel/lease"
)

// begin claims work unless this worker stops, and returns when it began to. ErrReleased if it stops; other
// errors are claim's.
func (l *Labeller) begin(ctx context.Context, claim func(context.Context) error) (since time.Time, err error) {
	if ctx.Err() != nil || closed(l.drains) {
		return since, ErrReleased
	}
	since = time.Now()
	return since, write(ctx, claim)
}

// hold keeps the lease of claimed work until release is called. life ends when the lease is lost, and with
// ErrReleased when the policy is down for long. releaseRequested reports whether the run is paused or the
// worker drains.
func (l *Labeller) hold(ctx context.Context, since time.Time, p relabel.Policy,
	renew func(ctx context.Context, length time.Duration) (paused bool, err error)) (life context.Context, releaseRequested func() bool, release func()) {
	life, paused, releaseLease := lease.NewSingleKeeper(l.Lease, renew, l.Log).Keep(ctx, since)
	life, over := l.whileUp(life, p)
	releaseRequested = func() bool { return closed(paused) || closed(l.drains) }
	return life, releaseRequested, func() {
		over()
		releaseLease()
	}
}
