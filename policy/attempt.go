package policy

import (
	"context"
	"time"

	"relabel"
)

// completionCall is the state that all tries of a call share.
type completionCall struct {
	req      relabel.ChatRequest
	score    *relabel.ScoreRequest // what is asked instead of req's state; nil: an action
	bytes    int                   // of the request, roughly
	secret   string
	replicas []*lane // in the order that its trajectory prefers
	arrived  uint64

	last    outcome         // of the previous try; "" before the first
	spent   int             // tries that used up a retry
	failed  map[outcome]int // of these, by outcome
	lost    map[string]int  // consecutive tries that did not reach the server, by address
	trouble time.Time       // since when it waits for an endpoint that is busy or down; zero: it does not
}

// attempt is one try, and the wait for its slot.
type attempt struct {
	base   string
	begun  time.Time // when it got its slot; zero: it got none
	queued time.Duration
	took   time.Duration
	held   bool // the endpoint was down while it waited
	done   relabel.Completion
	scores []relabel.Score // of a ScoreRequest, by span
	status int
	fail   *failure // why the try failed
	left   bool     // the caller left before the answer
	err    error    // why it got no slot: ctx's error, errDown or errElsewhere
	health          // of the endpoint after the try
}

// attempt waits for a slot at l and tries once. It closes placed, unless that is nil, when it gets the
// slot.
func (c *Client) attempt(ctx context.Context, q completionCall, l *lane, placed chan<- struct{}) attempt {
	w := &waiter{
		purpose: q.req.Purpose, urgency: q.req.Urgency, arrived: q.arrived, after: q.last, bytes: q.bytes,
		patience: c.patience(), trouble: q.trouble, roams: len(c.replicas) > 1,
	}
	came := time.Now()
	err := l.at.enter(ctx, l, w)
	a := attempt{base: l.at.base, queued: time.Since(came), held: w.held, err: err}
	if err != nil {
		return a
	}
	if placed != nil {
		close(placed)
	}
	if q.req.Clock != nil {
		q.req.Clock.Restart()
		defer q.req.Clock.Stop()
	}
	a.begun = time.Now()
	if q.score != nil {
		a.scores, a.done, a.status, a.fail = c.tryScore(ctx, l.at.base, *q.score, q.secret)
	} else {
		a.done, a.status, a.fail = c.try(ctx, l.at.base, q.req, q.secret)
	}
	a.took = time.Since(a.begun)
	t := tried{outcome: answered, usage: a.done.Usage}
	if a.fail != nil {
		t = tried{outcome: a.fail.outcome, after: a.fail.after, err: a.fail.err}
	}
	if a.left = a.fail != nil && ctx.Err() != nil; a.left {
		t.outcome = abandoned
	}
	a.health = l.at.release(w, t)
	return a
}

func (c *Client) patience() time.Duration {
	return time.Duration(c.policy.Limits.PatienceSeconds) * time.Second
}

// hedge attempts the call at the preferred replica. If that does not answer within the policy's time,
// it also attempts it at another one. The first answer wins; the other try is cancelled and returned as
// the loser.
func (c *Client) hedge(ctx context.Context, q completionCall) (won attempt, lost *attempt) {
	first := choose(q.replicas)
	after := time.Duration(c.policy.Limits.HedgeAfterSeconds) * time.Second
	if after == 0 || len(q.replicas) < 2 {
		return c.attempt(ctx, q, first, nil), nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results, placed := make(chan attempt, 2), make(chan struct{})
	go func() { results <- c.attempt(ctx, q, first, placed) }()
	select {
	case a := <-results:
		return a, nil
	case <-placed:
	}
	select {
	case a := <-results:
		return a, nil
	case <-time.After(after):
	}
	second := spare(q.replicas, first)
	if second == nil {
		return <-results, nil
	}
	go func() { results <- c.attempt(ctx, q, second, nil) }()
	won = <-results
	if won.answered() {
		cancel()
	}
	other := <-results
	if !won.answered() && (other.answered() || won.err != nil) {
		won, other = other, won
	}
	if other.begun.IsZero() {
		return won, nil // it was never sent
	}
	return won, &other
}

func (a attempt) answered() bool { return a.err == nil && a.fail == nil }

// settle records a failed attempt in q, and reports whether the call may be retried. A call
// waits within the policy's patience where time alone may help; other failures use up its
// retries. So does a broken connection, or a 500, while the endpoint answers other calls: then
// this call is the cause.
func (q *completionCall) settle(a attempt, patience time.Duration, retries int) (again bool) {
	q.last = a.fail.outcome
	q.lost[a.base]++
	if a.fail.outcome != down {
		q.lost[a.base] = 0
	}
	if a.fail.outcome.passes() && a.missed >= q.lost[a.base] || a.fail.outcome == broken && a.broken {
		if q.trouble.IsZero() {
			q.trouble = a.begun
		}
		if time.Since(q.trouble) < patience {
			return true
		}
	}
	if q.failed == nil {
		q.failed = map[outcome]int{}
	}
	q.spent++
	q.failed[a.fail.outcome]++
	return q.spent <= retries && q.failed[a.fail.outcome] <= a.fail.retries
}

// waited subtracts the wait for a slot from the call's trouble: other calls caused it, not
// the endpoint, unless that was down during the wait.
func (q *completionCall) waited(a attempt) {
	if !q.trouble.IsZero() && !a.held {
		q.trouble = q.trouble.Add(a.queued)
	}
}
