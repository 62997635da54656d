package mixer

import "context"

// Slots bound what one process does at once.
type Slots struct {
	// Rollouts is how many trajectories are in their loop of turns at once.
	Rollouts int
	// Prefetch is how many more are claimed and prepared while all slots are busy, so that a
	// free slot finds a sandbox that is ready.
	Prefetch int
}

// Claims is how many trajectories may be claimed with their rollout not over: the number of
// jobs that the queue runs at once.
func (s Slots) Claims() int { return s.Rollouts + s.Prefetch }

// A rollout that waits for an endpoint that is down holds a waiting slot instead of a slot;
// it also executes the answer that ends the wait there. There are as many waiting slots as
// slots; when all are taken, the trajectory is released to the queue at once. So a process
// has at most 2*Rollouts+Prefetch sandboxes that roll out.
//
// The ends of trajectories hold no slot. They have bounds of their own: a verification is a
// container as large as a rollout's, so there are as many; a trajectory that waits for late
// labels is only its state in memory.
const (
	verifyingPerRollout = 1
	endingPerRollout    = 8
)

// semaphore bounds how many hold it at once; nil has no bound.
type semaphore chan struct{}

func newSemaphore(n int) semaphore {
	if n <= 0 {
		return nil
	}
	return make(semaphore, n)
}

// acquire waits for the semaphore. It fails with the cause of ctx's end, or with ErrReleased
// when releaseRequested is closed first. release may be called more than once.
func (s semaphore) acquire(ctx context.Context, releaseRequested <-chan struct{}) (release func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	select {
	case s <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-releaseRequested:
		return nil, ErrReleased
	}
	acquired := true
	return func() {
		if acquired {
			acquired = false
			<-s
		}
	}, nil
}

// tryAcquire acquires the semaphore if it is free.
func (s semaphore) tryAcquire() (release func(), ok bool) {
	if s == nil {
		return func() {}, true
	}
	select {
	case s <- struct{}{}:
		return func() { <-s }, true
	default:
		return nil, false
	}
}
