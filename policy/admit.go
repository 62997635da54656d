package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// errElsewhere ends the wait of a waiter that may use another replica.
var errElsewhere = errors.New("the endpoint does not accept calls now; another replica may")

// errDown ends the wait of a waiter whose patience is over.
var errDown = errors.New("the endpoint is down")

// enter waits in l for a slot until ctx ends, the endpoint is down for longer than w's patience
// (errDown), or it takes no calls while w roams (errElsewhere). A caller that entered must call
// release.
func (e *endpoint) enter(ctx context.Context, l *lane, w *waiter) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.lane, w.queued, w.verdict = l, time.Now(), make(chan error, 1)
	e.mu.Lock()
	l.waiting = append(l.waiting, w)
	e.admit()
	e.mu.Unlock()
	select {
	case err := <-w.verdict:
		return err
	case <-ctx.Done():
	}
	e.mu.Lock()
	waited := l.remove(w)
	if waited {
		e.admit() // it may have blocked others of this lane
	}
	e.mu.Unlock()
	if !waited && <-w.verdict == nil { // it was let in meanwhile
		e.release(w, tried{outcome: abandoned})
	}
	return ctx.Err()
}

// admit admits the waiters that may start now, rejects those for which waiting is useless, and sets a
// timer for the next change that needs no event. e.mu is held.
func (e *endpoint) admit() {
	now := time.Now()
	var look time.Duration
	for {
		w, over, wait := e.next(now)
		if w == nil {
			look = wait
			break
		}
		e.grant(w, over, now)
	}
	look = sooner(look, e.rejectExpired(now))
	if e.timer != nil {
		e.timer.Stop()
		e.timer = nil
	}
	if look > 0 {
		e.timer = time.AfterFunc(look, func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.admit()
		})
	}
	e.tell()
}

// next returns the waiter that may start now, and whether that skips the longest waiter; or nil, and
// the time until one may start without another event (0: never).
func (e *endpoint) next(now time.Time) (w *waiter, over bool, wait time.Duration) {
	if !slices.ContainsFunc(e.lanes, func(l *lane) bool { return len(l.waiting) > 0 }) || e.inFlight >= e.limit.places() {
		return nil, false, 0
	}
	if wait := e.closedFor(now); wait > 0 {
		return nil, false, wait
	}
	var fronts []*waiter
	for _, l := range e.lanes {
		if len(l.waiting) == 0 {
			continue
		}
		open, until := l.open(now)
		if !open {
			wait = sooner(wait, until)
			continue
		}
		front, _ := l.order.choose(l.waiting)
		fronts = append(fronts, front)
	}
	if len(fronts) == 0 {
		return nil, false, wait
	}
	w, over = e.order.choose(fronts)
	return w, over, 0
}

// grant gives w a slot.
func (e *endpoint) grant(w *waiter, over bool, now time.Time) {
	_, overOwn := w.lane.order.choose(w.lane.waiting)
	w.lane.order.note(overOwn)
	e.order.note(over)
	w.lane.take(w, now)
	e.inFlight++
	e.flying[w] = struct{}{}
	e.granted++
	w.grant, w.granted = e.granted, now
	w.near = e.inFlight*5 >= e.limit.places()*4
	if w.probe = e.breaker.open; w.probe {
		e.breaker.probed(now)
		e.redirectAll()
	}
	w.verdict <- nil
}

// redirectAll rejects the waiters that may use another replica.
func (e *endpoint) redirectAll() {
	for _, l := range e.lanes {
		l.reject(func(w *waiter) error {
			if w.roams {
				return errElsewhere
			}
			return nil
		})
	}
}

// rejectExpired rejects the waiters whose patience is over while the endpoint is down, and returns
// the time until the next one's is over (0: none).
func (e *endpoint) rejectExpired(now time.Time) (next time.Duration) {
	if !e.breaker.open {
		return 0
	}
	for _, l := range e.lanes {
		l.reject(func(w *waiter) error {
			w.held = true
			since := w.trouble
			if since.IsZero() {
				since = later(e.breaker.since, w.queued)
			}
			left := since.Add(w.patience).Sub(now)
			if left <= 0 {
				return fmt.Errorf("%w: %w", errDown, e.breaker.last)
			}
			next = sooner(next, left)
			return nil
		})
	}
	return next
}

// sooner is the shorter of two waits, where 0 means none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
