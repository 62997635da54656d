package policy

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"relabel"
)

// Endpoints are the base URLs that one process asks, one object each, shared by all
// policies that use it. They are safe for concurrent use.
type Endpoints struct {
	observe  Observe
	arrivals atomic.Uint64

	mu  sync.Mutex
	all map[string]*endpoint

	reporting sync.Mutex
	changed   chan struct{} // closed when an endpoint goes down or comes back; nil while nobody asks
}

// NewEndpoints makes an empty set, which reports to o.
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
	e.admit() // to wider limits, perhaps
	return e.lanes[i]
}

// endpoint is one base URL. It decides which call may go, and when, and learns about the
// server: how many concurrent calls it handles, whether it is up, and until when it wants no
// calls.
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
	missed   time.Time       // when the last try began that failed
	broke    map[uint64]bool // the calls that got a 500 since the last answer
	order    order           // between lanes
	timer    *time.Timer     // admits again when time alone may let somebody in

	// Its state: standing.go and watch.go.
	flying        map[*waiter]struct{}
	answered      time.Time     // when the last answer came
	spoke         time.Time     // when it last said anything
	longest       time.Duration // that an answer took
	silenceBorne  time.Duration // it was silent for so long and answered all the same
	silent        string        // why it counts as silent; "" while it does not
	refused       int           // tries without an answer since the last one
	refusedSince  time.Time
	refusal       outcome // the last of them
	down          string  // why it counts as down; "" while it does not
	downSince     time.Time
	endpointProbe *endpointProbe
	probing       bool
	nextProbe     time.Time
	answerLimit   time.Duration // of the next probe
}

// tried is how a try ended.
type tried struct {
	outcome outcome
	after   time.Duration  // the server's Retry-After; 0 if it says nothing
	usage   *relabel.Usage // nil if the server does not say
	err     error          // of a failure; safe to show
}

// redirectWaiters rejects the waiters of endpoints that are down and that may use another one,
// because one is back.
func (s *Endpoints) redirectWaiters() {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.all))
	s.mu.Unlock()
	for _, e := range all {
		e.mu.Lock()
		if e.breaker.open {
			e.redirectAll()
		}
		e.mu.Unlock()
	}
}

// health is how an endpoint looks after a try.
type health struct {
	missed int  // tries that failed since it last showed a sign of life
	down   bool // it is assumed to be down
	broken bool // several calls got a 500, and none an answer since
	quiet  bool // it named a time before which it wants no calls
}

// release returns w's slot and learns from how its try ended.
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

// learn is release with e.mu held; back says that the endpoint was down and is up again.
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
	case t.outcome.reached() && !w.granted.Before(e.missed) && e.breaker.live(): // what was sent before says nothing of now
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

// learnLimit adapts how many calls may be in flight.
func (e *endpoint) learnLimit(w *waiter, t tried, now time.Time) {
	switch {
	case t.outcome.refuses():
		e.limit.cut(w.grant, e.granted)
	case t.outcome != answered:
	case w.lane.pace.learn(now.Sub(w.granted), t.usage):
		if w.near { // with places to spare it is not the calls that make it slow
			e.limit.cut(w.grant, e.granted)
		}
	case w.near:
		e.limit.grow()
	}
}

// wait is how long the endpoint is assumed to be down, or wants no calls; 0 while it is up,
// and when a probe may go.
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

// tell reports how many calls are in flight and how many wait.
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
