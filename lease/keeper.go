package lease

import (
	"context"
	"sync"
	"time"
)

// Keeper keeps the leases of claims, in one goroutine that runs while there are any. It is
// safe for concurrent use.
type Keeper[F comparable] struct {
	Config[F]
	period time.Duration // between two ticks
	limit  time.Duration // of a request

	mu       sync.Mutex
	held     map[F]*claim[F]
	draining bool
	failing  bool               // the last request failed
	stop     context.CancelFunc // of the goroutine; nil while none runs
	stopped  chan struct{}
}

// claim is one claim that a keeper keeps. The keeper's lock guards it.
type claim[F comparable] struct {
	fence     F
	cancel    context.CancelCauseFunc
	lost      bool
	requested chan struct{} // closed when its release is requested
	closed    bool          // requested is closed
	renewedAt time.Time     // the lease had its whole length then, or later
}

// Keep keeps the lease of a claim until release; the claim was made at since or later. life
// ends with ctx, and with ErrLost as its cause when the claim is lost or could not be renewed
// for the length of a lease: the work must then stop at once. releaseRequested is closed when
// the claim is paused or the keeper drains. Renewal continues while ctx is cancelled, because
// releasing work needs a live lease.
func (k *Keeper[F]) Keep(ctx context.Context, fence F, since time.Time) (life context.Context, releaseRequested <-chan struct{}, release func()) {
	life, cancel := context.WithCancelCause(ctx)
	c := &claim[F]{fence: fence, cancel: cancel, requested: make(chan struct{}), renewedAt: since}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.held[fence] = c
	if k.draining {
		c.requestRelease()
	}
	if k.stop == nil {
		running, stop := context.WithCancel(context.WithoutCancel(ctx))
		k.stop, k.stopped = stop, make(chan struct{})
		go k.run(running, k.stopped)
	}
	return life, c.requested, func() { k.release(c) }
}

// release stops keeping a claim. With the last one it waits for the goroutine's end.
func (k *Keeper[F]) release(c *claim[F]) {
	k.mu.Lock()
	if k.held[c.fence] == c { // a later claim of the same fence stays
		delete(k.held, c.fence)
	}
	stop, stopped := k.stop, k.stopped
	last := len(k.held) == 0
	if last {
		k.stop = nil
	}
	k.mu.Unlock()
	if last && stop != nil {
		stop()
		<-stopped
	}
	c.cancel(nil)
}

// Drain requests the release of all claims, present and future.
func (k *Keeper[F]) Drain() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.draining = true
	for _, c := range k.held {
		c.requestRelease()
	}
}

// Draining reports whether Drain was called.
func (k *Keeper[F]) Draining() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.draining
}

func (c *claim[F]) requestRelease() {
	if !c.closed {
		c.closed = true
		close(c.requested)
	}
}

func (c *claim[F]) lose() {
	c.lost = true
	c.cancel(ErrLost)
}

func (k *Keeper[F]) run(ctx context.Context, stopped chan<- struct{}) {
	defer close(stopped)
	ticker := time.NewTicker(k.period)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		k.tick(ctx)
	}
}

func (k *Keeper[F]) tick(ctx context.Context) {
	k.expire()
	k.check(ctx)
	if k.Renew != nil {
		k.renew(ctx)
	}
}

// expire loses the claims that were not renewed for the length of a lease: another owner may
// have them by now, whether or not the database answers.
func (k *Keeper[F]) expire() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.held {
		if time.Since(c.renewedAt) >= k.Length {
			c.lose()
		}
	}
}

// olderThan returns the live claims that were not renewed for age, their fences in the same
// order, and the time that a request for them may take.
func (k *Keeper[F]) olderThan(age time.Duration) (claims []*claim[F], fences []F, limit time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	limit = k.limit
	for _, c := range k.held {
		since := time.Since(c.renewedAt)
		if c.lost || since < age || since >= k.Length {
			continue
		}
		claims, fences = append(claims, c), append(fences, c.fence)
		limit = min(limit, k.Length-since)
	}
	return claims, fences, limit
}

// check asks how all claims stand. Without Renew a check also renews.
func (k *Keeper[F]) check(ctx context.Context) {
	claims, fences, limit := k.olderThan(0)
	if len(claims) == 0 {
		return
	}
	sent := time.Now()
	request, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	standings, err := k.Check(request, fences)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fails(ctx, err, "cannot check leases") {
		return
	}
	for i, c := range claims {
		switch {
		case !standings[i].Held:
			c.lose()
			continue
		case k.Renew == nil:
			c.renewedAt = sent
		}
		if standings[i].Paused {
			c.requestRelease()
		}
	}
}

// renew renews the claims that are due, and those that are due soon, so that claims made at
// different times are renewed together.
func (k *Keeper[F]) renew(ctx context.Context) {
	if due, _, _ := k.olderThan(k.Length / 3); len(due) == 0 {
		return
	}
	claims, fences, limit := k.olderThan(k.Length / 6)
	sent := time.Now()
	request, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	renewed, err := k.Renew(request, fences, k.Length)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fails(ctx, err, "cannot renew leases") {
		return
	}
	for i, c := range claims {
		if renewed[i] {
			c.renewedAt = sent
		}
	}
}

// fails reports whether a request failed; the next tick retries it. The first failure of an
// outage is logged. The lock is held.
func (k *Keeper[F]) fails(ctx context.Context, err error, message string) bool {
	if err == nil || ctx.Err() != nil {
		k.failing = k.failing && err != nil
		return err != nil
	}
	if !k.failing {
		k.failing = true
		k.Log.Warn().Err(err).Msg(message)
	}
	return true
}
