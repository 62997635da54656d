package mixer

import (
	"context"
)

// Slots bound what one process does at once.
type Slots struct {
	// Rollouts is how many trajectories are in their loop of turns at once.
	Rollouts int
	// Ahead is how many further ones are claimed and made ready meanwhile: a slot that
	// becomes free finds a sandbox that waits for it.
	Ahead int
}

// Claims is how many trajectories are claimed and not yet over with their rollout: as
// many jobs as the queue is to hand out at once.
func (s Slots) Claims() int { return s.Rollouts + s.Ahead }

// A rollout that waits for an endpoint that is down holds no slot either, but a place among
// those that wait without one, in which it also executes the answer that ends the wait: there
// are as many as slots. Where all are taken it is given
// back to the queue at once. So a process has at most twice Rollouts and Ahead sandboxes
// that roll out.
//
// The ends of trajectories hold no slot of rollouts. They have bounds of their own:
// a verification is a container as large as a rollout's, so there are as many; a
// trajectory whose late labels are waited for is but its state in memory.
const (
	verifyingPerRollout = 1
	endingPerRollout    = 8
)

// places is a number of places to be taken; nil has no bound.
type places chan struct{}

func newPlaces(n int) places {
	if n <= 0 {
		return nil
	}
	return make(places, n)
}

// take waits for a place. It fails with the cause of ctx's end, or with ErrReleased when
// giveBack is closed first. leave may be called more than once.
func (p places) take(ctx context.Context, giveBack <-chan struct{}) (leave func(), err error) {
	if p == nil {
		return func() {}, nil
	}
	select {
	case p <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-giveBack:
		return nil, ErrReleased
	}
	taken := true
	return func() {
		if taken {
			taken = false
			<-p
		}
	}, nil
}

// tryTake takes a place if one is free.
func (p places) tryTake() (leave func(), ok bool) {
	if p == nil {
		return func() {}, true
	}
	select {
	case p <- struct{}{}:
		return func() { <-p }, true
	default:
		return nil, false
	}
}
