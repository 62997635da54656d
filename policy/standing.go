package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"relabel"
)

// When an endpoint that does not answer counts as down, independent of a call's own timeout. Calls
// in flight continue.
const (
	suspectAfter = 2 * time.Second        // silence with a call in flight, until a probe
	refusedAfter = 3 * time.Second        // time with only refusals and errors
	refusedTries = 3                      // their minimum number
	aliveFor     = 30 * time.Second       // after an answer, an endpoint is known to be up
	watchEvery   = 250 * time.Millisecond // between two checks of all endpoints
)

// Standing is the state of an endpoint for this process.
type Standing struct {
	URL   string
	Down  string // why it counts as down, safe to show; "" if it does not
	Alive bool   // it answered a call within aliveFor
}

// Standings lists the state of all endpoints, by URL.
func (s *Endpoints) Standings() []Standing {
	var list []Standing
	for _, e := range s.list() {
		e.mu.Lock()
		list = append(list, Standing{URL: e.base, Down: e.down,
			Alive: e.down == "" && !e.answered.IsZero() && time.Since(e.answered) < aliveFor})
		e.mu.Unlock()
	}
	slices.SortFunc(list, func(a, b Standing) int { return strings.Compare(a.URL, b.URL) })
	return list
}

// Down tells why no address of the client's policy is available now; "" if one is. changed is closed
// when that may have changed.
func (c *Client) Down() (why string, changed <-chan struct{}) {
	changed = c.endpoints.changes()
	for i, l := range c.replicas {
		l.at.mu.Lock()
		down := l.at.down
		l.at.mu.Unlock()
		if down == "" {
			return "", changed
		}
		if i == 0 {
			why = l.at.base + ": " + down
		}
	}
	return why, changed
}

// changes returns a channel that is closed when an endpoint goes down or comes back.
func (s *Endpoints) changes() <-chan struct{} {
	s.reporting.Lock()
	defer s.reporting.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

func (s *Endpoints) broadcast() {
	s.reporting.Lock()
	defer s.reporting.Unlock()
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// judge decides whether the endpoint counts as down. e.mu is held.
func (e *endpoint) judge(now time.Time) {
	down := ""
	switch {
	case e.breaker.open:
		down = shownFailure(e.breaker.last)
	case e.silent != "":
		down = e.silent
	case e.refused >= refusedTries && now.Sub(e.refusedSince) >= refusedAfter && (e.refusal != broken || len(e.broke) > 1):
		down = fmt.Sprintf("no answer but errors for %d requests (%s)", e.refused, e.refusal)
	}
	if (down == "") != (e.down == "") {
		e.set.broadcast()
	}
	e.down = down
}

// learnStanding updates the endpoint's state with the end of a try. e.mu is held.
func (e *endpoint) learnStanding(w *waiter, t tried, now time.Time) {
	delete(e.flying, w)
	switch {
	case t.outcome == answered:
		if e.silent != "" { // it was only slow: allow longer silence from now on
			e.silenceBorne = max(e.silenceBorne, 2*now.Sub(w.granted))
		}
		e.longest = max(e.longest, now.Sub(w.granted))
		e.answered, e.spoke, e.refused, e.silent = now, now, 0, ""
	case t.outcome == useless:
		e.spoke, e.refused, e.silent = now, 0, ""
	case t.outcome != abandoned:
		if t.outcome.reached() {
			e.spoke = now
		}
		if e.refused++; e.refused == 1 {
			e.refusedSince = now
		}
		e.refusal = t.outcome
	}
	e.judge(now)
}

// suspect returns how long the oldest call in flight has waited while the endpoint was silent to
// all; 0 if that is not long.
func (e *endpoint) suspect(now time.Time) time.Duration {
	var oldest time.Time
	for w := range e.flying {
		if oldest.IsZero() || w.granted.Before(oldest) {
			oldest = w.granted
		}
	}
	if oldest.IsZero() || now.Sub(later(oldest, e.spoke)) < max(suspectAfter, e.silenceBorne) {
		return 0
	}
	return now.Sub(oldest)
}

// shownFailure is the message of a failed try, without the policy's name and its cause.
func shownFailure(err error) string {
	if err == nil {
		return "it does not answer"
	}
	message := relabel.Shown(err)
	if _, rest, ok := strings.Cut(message, ": "); ok {
		return rest
	}
	return message
}
