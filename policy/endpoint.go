package policy

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"relabel"
)

// Endpoints are the base URLs that a process asks. All policies with a base URL share its state. They
// are safe for concurrent use.
type Endpoints struct {
	observe  Observe
	arrivals atomic.Uint64

	mu  sync.Mutex
	all map[string]*endpoint

	reporting sync.Mutex
	changed   chan struct{} // closed when an endpoint goes down or comes back; nil while nobody waits
}

// NewEndpoints makes an empty set that reports to o.
func NewEndpoints(o Observe) *Endpoints {
	return &Endpoints{observe: o, all: map[string]*endpoint{}}
}

// join finds or makes p's lane at base.
func (s *Endpoints) join(base string, p relabel.Policy) *lane {
	s.mu.Lock()
	base = strings.TrimRight(base, "/")
	e := s.all[base]
	if e == nil {
		e = &endpoint{base: base, set: s, observe: s.observe, flying: map[*waiter]struct{}{}}
		s.all[base] = e
	}
	s.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.limit.raiseTo(p.Limits.Concurrency)
	i := slices.IndexFunc(e.lanes, func(l *lane) bool { return l.name == p.Name })
	if i < 0 {
		i = len(e.lanes)
		e.lanes = append(e.lanes, &lane{at: e, name: p.Name, answer: firstAnswer})
	}
	e.lanes[i].adopt(p, time.Now())
	e.admit() // the limits may be wider
	return e.lanes[i]
}

// endpoint is one base URL. It decides which call may start and when, and learns about the server: how
// many concurrent calls it handles, whether it is up, and until when it accepts no calls.
type endpoint struct {
	base    string
	set     *Endpoints
	observe Observe

	mu       sync.Mutex
	lanes    []*lane
	limit    limit
	breaker  breaker
	quiet    time.Time // the server's Retry-After
	inFlight int
	granted  uint64
	missed   time.Time       // start of the last failed try
	broke    map[uint64]bool // calls with a 500 since the last answer
	order    order           // between lanes
	timer    *time.Timer     // for the next admission that needs no event

	// Its state: standing.go and watch.go.
	flying        map[*waiter]struct{}
	answered      time.Time     // time of the last answer
	spoke         time.Time     // time of the last response of any kind
	longest       time.Duration // of an answer
	silenceBorne  time.Duration // a silence that ended with an answer
	silent        string        // why it counts as silent; "" if it does not
	refused       int           // tries without an answer since the last one
	refusedSince  time.Time
	refusal       outcome // of the last of them
	down          string  // why it counts as down; "" if it does not
	endpointProbe *endpointProbe
	probing       bool
	nextProbe     time.Time
	answerLimit   time.Duration // for the next probe
}

// tried is the end of a try.
type tried struct {
	outcome outcome
	after   time.Duration  // the server's Retry-After; 0 without one
	usage   *relabel.Usage // nil if unknown
	err     error          // of a failure; safe to show
}

// redirectWaiters rejects the waiters of endpoints that are down if they may use another one. One is
// back.
func (s *Endpoints) redirectWaiters() {
	for _, e := range s.list() {
		e.mu.Lock()
		if e.breaker.open {
			e.redirectAll()
		}
		e.mu.Unlock()
	}
}

// health is the state of an endpoint after a try.
type health struct {
	missed int  // failed tries since the last sign of life
	down   bool // the breaker is open
	broken bool // several calls got a 500 since the last answer
	quiet  bool // it asked for a pause
}

// release frees w's slot and learns from the end of its try.
func (e *endpoint) release(w *waiter, t tried) health {
	e.mu.Lock()
	now := time.Now()
	back := e.learn(w, t, now)
	h := health{e.breaker.failures, e.breaker.open, len(e.broke) > 1, e.quiet.After(now)}
	e.mu.Unlock()
	if back {
		e.set.redirectWaiters()
	}
	return h
}

// learn is release with e.mu held; back reports that the endpoint was down and is up again.
func (e *endpoint) learn(w *waiter, t tried, now time.Time) (back bool) {
	e.inFlight--
	defer e.learnStanding(w, t, now)
	w.lane.release(w, t.outcome, t.usage, now)
	e.learnLimit(w, t, now)
	switch t.outcome {
	case broken:
		if e.broke == nil {
			e.broke = map[uint64]bool{}
		}
		e.broke[w.arrived] = true
	case answered:
		e.broke = nil
	}
	switch {
	case t.outcome.fails():
		if w.granted.After(e.missed) {
			e.missed = w.granted
		}
		if e.breaker.fail(now, w.probe, t.err) {
			e.redirectAll()
			e.tellBreaker()
		}
	case t.outcome.reached() && !w.granted.Before(e.missed) && e.breaker.live(): // an older try shows an older state
		back = true
		e.limit.restart()
		e.tellBreaker()
	}
	if until := now.Add(t.after); t.after > 0 && until.After(e.quiet) {
		e.quiet = until
		e.redirectAll()
	}
	if e.observe.Tried != nil {
		e.observe.Tried(e.base, Try{Policy: w.lane.name, Purpose: w.purpose, Outcome: string(t.outcome), After: string(w.after),
			Queued: w.granted.Sub(w.queued), Took: now.Sub(w.granted), Usage: t.usage})
	}
	e.admit()
	return back
}

// learnLimit adapts the number of concurrent calls.
func (e *endpoint) learnLimit(w *waiter, t tried, now time.Time) {
	switch {
	case t.outcome.refuses():
		e.limit.cut(w.grant, e.granted)
	case t.outcome != answered:
	case w.lane.pace.learn(now.Sub(w.granted), t.usage):
		if w.near { // otherwise the calls are not the cause
			e.limit.cut(w.grant, e.granted)
		}
	case w.near:
		e.limit.grow()
	}
}

// wait is how long the endpoint is assumed to be down or accepts no calls; 0 if it is up or a probe is
// due.
func (e *endpoint) wait() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.silent != "" {
		return max(lastInterval, e.closedFor(time.Now()))
	}
	return e.closedFor(time.Now())
}

// closedFor is wait under e.mu.
func (e *endpoint) closedFor(now time.Time) time.Duration {
	return max(e.quiet.Sub(now), e.breaker.wait(now))
}

func (e *endpoint) tellBreaker() {
	if e.observe.Breaker != nil {
		e.observe.Breaker(e.base, e.breaker.last)
	}
}

// tell reports the numbers of calls in flight and waiting.
func (e *endpoint) tell() {
	if e.observe.InFlight != nil {
		e.observe.InFlight(e.base, e.inFlight, e.limit.places())
	}
	if e.observe.Waiting == nil {
		return
	}
	var waiting [3]int
	for _, l := range e.lanes {
		for _, w := range l.waiting {
			waiting[w.class()]++
		}
	}
	e.observe.Waiting(e.base, waiting[0], waiting[1], waiting[2])
}
