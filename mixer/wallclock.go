package mixer

import (
	"context"
	"sync"
	"time"

	"relabel"
)

// wallClock ends a context when a rollout has been rolled out for long enough. It stands
// while an executor's call waits for its endpoint: then the rollout is not rolled out.
// It is the Clock of those calls.
type wallClock struct {
	mu      sync.Mutex
	left    time.Duration // when it was last set going, or stopped
	before  time.Duration // what was left when the call in hand began
	going   bool
	since   time.Time // when it was set going
	timer   *time.Timer
	expired func()
}

var _ relabel.Clock = (*wallClock)(nil)

// newWallClock sets a clock going. The context ends with life, and with errWallClock as its
// cause when what is left is over.
func newWallClock(life context.Context, left time.Duration) (ctx context.Context, w *wallClock, end func()) {
	ctx, cancel := context.WithCancelCause(life)
	w = &wallClock{left: left, expired: func() { cancel(errWallClock) }}
	if left <= 0 {
		w.expired()
		return ctx, w, func() {}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.run()
	return ctx, w, func() {
		w.Stop()
		cancel(nil)
	}
}

// run sets it going; w.mu is held.
func (w *wallClock) run() {
	w.going, w.since = true, time.Now()
	w.timer = time.AfterFunc(w.left, w.expired)
}

// stand stops it; w.mu is held.
func (w *wallClock) stand() {
	if w.going {
		w.timer.Stop()
		w.left -= time.Since(w.since)
		w.going = false
	}
}

// call begins a call. What it returns ends it: the clock continues.
func (w *wallClock) call() (over func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stand()
	w.before = w.left
	w.run()
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if !w.going {
			w.run()
		}
	}
}

// rest is what is left.
func (w *wallClock) rest() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.going {
		return w.left
	}
	return w.left - time.Since(w.since)
}

// Stop is relabel.Clock's.
func (w *wallClock) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stand()
}

// Restart is relabel.Clock's.
func (w *wallClock) Restart() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stand()
	w.left = w.before
	w.run()
}
