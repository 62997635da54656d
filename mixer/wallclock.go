package mixer

import (
	"context"
	"sync"
	"time"

	"relabel"
)

// wallClock ends a context at a rollout's time limit. It stops while an executor's call waits for its
// endpoint, and is the Clock of these calls.
type wallClock struct {
	mu      sync.Mutex
	left    time.Duration // when the clock was last started or stopped
	before  time.Duration // left when the current call began
	running bool
	since   time.Time // when the clock was last started
	timer   *time.Timer
	expired func()
}

var _ relabel.Clock = (*wallClock)(nil)

// newWallClock starts a clock. The context ends with life, or with errWallClock as its cause after
// the time left.
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

// run starts the clock; w.mu is held.
func (w *wallClock) run() {
	w.running, w.since = true, time.Now()
	w.timer = time.AfterFunc(w.left, w.expired)
}

// halt stops the clock; w.mu is held.
func (w *wallClock) halt() {
	if w.running {
		w.timer.Stop()
		w.left -= time.Since(w.since)
		w.running = false
	}
}

// call begins a call. over ends it and starts the clock if it is stopped.
func (w *wallClock) call() (over func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.halt()
	w.before = w.left
	w.run()
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if !w.running {
			w.run()
		}
	}
}

// rest is the time left.
func (w *wallClock) rest() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.running {
		return w.left
	}
	return w.left - time.Since(w.since)
}

// Stop implements relabel.Clock.
func (w *wallClock) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.halt()
}

// Restart implements relabel.Clock.
func (w *wallClock) Restart() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.halt()
	w.left = w.before
	w.run()
}
