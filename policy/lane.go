package policy

import (
	"slices"
	"time"

	"relabel"
)

// bytesPerToken is the rough size of a token in a request that is not counted yet.
const bytesPerToken = 4

// firstAnswer is the assumed length of an answer, in tokens, before the first one.
const firstAnswer = 512

// lane is the share of an endpoint for all versions of one policy: the limits of the newest version, and
// the waiters. endpoint.mu guards it.
type lane struct {
	at       *endpoint
	name     string
	newest   time.Time // creation of the version whose limits apply
	most     int       // the maximum of inFlight
	inFlight int
	requests bucket
	tokens   bucket
	pace     pace
	answer   float64 // mean tokens of an answer
	waiting  []*waiter
	order    order
}

// adopt sets p's limits, unless those of a newer version apply.
func (l *lane) adopt(p relabel.Policy, now time.Time) {
	if p.CreatedAt.Before(l.newest) {
		return
	}
	l.newest, l.most = p.CreatedAt, p.Limits.Concurrency
	l.requests.set(p.Limits.RequestsPerMinute, now)
	l.tokens.set(p.Limits.TokensPerMinute, now)
}

// open reports whether the lane's next call may start, or how long until it may; 0: a call must end
// first.
func (l *lane) open(now time.Time) (bool, time.Duration) {
	if l.inFlight >= l.most {
		return false, 0
	}
	// Tokens may be overdrawn, requests may not.
	wait := max(l.requests.wait(1, now), l.tokens.wait(min(1, l.tokens.most()), now))
	return wait == 0, wait
}

// take reserves what w needs, and removes w from the waiters.
func (l *lane) take(w *waiter, now time.Time) {
	l.remove(w)
	l.inFlight++
	w.tokens = float64(w.bytes)/bytesPerToken + l.answer
	l.requests.take(1, now)
	l.tokens.take(w.tokens, now)
}

// release frees w's slot and corrects the reservation by the actual usage, which is 0 without an answer.
func (l *lane) release(w *waiter, o outcome, usage *relabel.Usage, now time.Time) {
	l.inFlight--
	switch {
	case usage != nil:
		l.answer += (float64(usage.CompletionTokens) - l.answer) / 16
		l.tokens.take(float64(usage.PromptTokens+usage.CompletionTokens)-w.tokens, now)
	case o != answered && o != slow:
		l.tokens.take(-w.tokens, now)
	}
}

// remove removes w from the waiters, and reports whether it was one of them.
func (l *lane) remove(w *waiter) bool {
	i := slices.Index(l.waiting, w)
	if i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	return i >= 0
}

// reject ends the wait of those for which why returns an error.
func (l *lane) reject(why func(*waiter) error) {
	l.waiting = slices.DeleteFunc(l.waiting, func(w *waiter) bool {
		err := why(w)
		if err != nil {
			w.verdict <- err
		}
		return err != nil
	})
}
