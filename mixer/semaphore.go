package mixer

import "context"

// Slots bound what one process does at once.
type Slots struct {
	// Rollouts is the number of trajectories in their loop of turns.
	Rollouts int
	// Prefetch is the number of further trajectories whose sandboxes are prepared while all slots are
	// busy.
	Prefetch int
}

// Claims is the number of claimed trajectories whose rollout has not ended, and so of the jobs that
// the queue runs concurrently.
func (s Slots) Claims() int { return s.Rollouts + s.Prefetch }

// endingPerRollout bounds the trajectories that wait for late labels, which need only memory. There
// are as many verifications as rollouts, because their containers are as large.
//
// A rollout whose endpoint is down holds a waiting slot instead of a slot, and also executes the
// answer that ends the wait there. There are as many waiting slots as slots; when all are taken, the
// trajectory is released at once. So a process has at most 2*Rollouts+Prefetch sandboxes of rollouts.
const endingPerRollout = 8

// semaphore bounds the number of its holders; nil has no bound.
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
