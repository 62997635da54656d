package mixer

import (
	"context"
	"runtime/debug"
	"sync"

	"relabel"
	"relabel/chat"
)

// labels asks the teacher for ãt during the student's turns: as many at once as there
// are turns without one. How many reach the endpoint at once is the policy's to say.
type labels struct {
	ctx    context.Context // ends with the rollout's life
	cancel context.CancelFunc
	r      *rollout
	work   sync.WaitGroup

	flights inFlight        // of their calls
	urgency relabel.Urgency // of all of them: raised when the rollout has ended and waits

	mu  sync.Mutex
	err error // the first that is no missing label
}

func newLabels(life context.Context, r *rollout) *labels {
	ctx, cancel := context.WithCancel(life)
	return &labels{ctx: ctx, cancel: cancel, r: r}
}

// pendingLabel is a label that was asked for. answer gets it, or is closed without one
// when the label was dropped or the rollout is over.
type pendingLabel struct {
	t      int
	owed   relabel.Action
	answer chan relabel.Action
	cancel context.CancelFunc
}

// ask asks for the label of turn t, without waiting. One whose prompt does not fit the
// teacher's context is not asked for: it is missing.
func (l *labels) ask(t int, req relabel.ChatRequest, sizes *chat.PromptSizes) *pendingLabel {
	estimate := sizes.Of(l.r.claim.Teacher.ID)
	ctx, cancel := context.WithCancel(l.ctx)
	req.Urgency, req.Clock = &l.urgency, l.flights.clock(nil)
	p := &pendingLabel{
		t: t, owed: relabel.Action{PolicyID: l.r.claim.Teacher.ID, Status: relabel.Owed},
		answer: make(chan relabel.Action, 1), cancel: cancel,
	}
	l.r.timer.asking(1)
	l.spawn(func() error {
		defer cancel()
		defer l.r.timer.asking(-1)
		defer close(p.answer)
		a, err := l.complete(ctx, req, estimate)
		if err == nil && ctx.Err() == nil {
			p.answer <- a
		}
		return err
	})
	return p
}

// askOwed asks again for the labels that the turns still owe, and for no other.
func (l *labels) askOwed(turns []relabel.Turn) {
	state := l.r.opening()
	sizes := chat.NewPromptSizes(state, l.r.claim.Run.Prompts.Tools)
	for _, turn := range turns {
		if owing(turn) {
			l.settleLater(l.ask(turn.T, l.r.request(state, turn.T, relabel.Teacher, relabel.PurposeLabel), sizes))
		}
		sizes.Add(turn)
		state = relabel.AppendTurn(state, turn)
	}
}

// complete asks the teacher. A label that cannot be had is a Missing action; an error
// is the store's: it could not record the call, or not be read.
func (l *labels) complete(ctx context.Context, req relabel.ChatRequest, estimate chat.PromptEstimate) (relabel.Action, error) {
	teacher := l.r.claim.Teacher.ID
	req, err := l.r.labelLimit().Fit(ctx, req, estimate)
	if err != nil && relabel.CodeOf(err) != relabel.CodeContextOverflow && ctx.Err() == nil {
		return relabel.Action{}, err // the store's: it has the tokenizer
	}
	var answer relabel.Completion
	if err == nil {
		answer, err = l.r.teacher.Complete(ctx, req)
	}
	switch {
	case ctx.Err() != nil:
		return relabel.Action{}, nil // nobody waits for it
	case relabel.CodeOf(err) == relabel.CodeUnavailable:
		return relabel.Action{}, err
	case err != nil:
		return relabel.MissingAction(teacher, err), nil
	}
	return answer.Action(teacher, l.r.parse), nil
}

// now returns the label if it is there, and an owed one if not.
func (p *pendingLabel) now() relabel.Action {
	select {
	case a, ok := <-p.answer:
		if ok {
			return a
		}
	default:
	}
	return p.owed
}

// drop releases the label of a turn that did not commit.
func (p *pendingLabel) drop() { p.cancel() }

// settleLater stores the label when it comes. Its turn has committed as owing it.
func (l *labels) settleLater(p *pendingLabel) {
	l.spawn(func() error {
		a, ok := <-p.answer
		if !ok {
			return nil
		}
		err := l.r.writeBeside(l.ctx, func(ctx context.Context) error {
			return l.r.store.SettleLabel(ctx, l.r.claim.Fence, p.t, a)
		})
		if relabel.CodeOf(err) == relabel.CodeConflict {
			return nil // it is settled already, by a write whose answer was lost
		}
		if err == nil {
			tell(l.r.observe.Settled, a)
		}
		return err
	})
}

// spawn runs do concurrently and keeps its error, or its panic as one.
func (l *labels) spawn(do func() error) {
	l.work.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				l.r.log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg("a label panicked")
				l.fail(&failure{reason: relabel.FailInternal, detail: "a bug in labelling; details are in the log"})
			}
		}()
		if err := do(); err != nil {
			l.fail(err)
		}
	})
}

func (l *labels) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
}

// wait waits until every label is available or missing, ctx ends, or the release of the
// trajectory is requested, which is ErrReleased. Only the rollout's own goroutine may call it: nothing is
// asked for meanwhile.
func (l *labels) wait(ctx context.Context, releaseRequested <-chan struct{}) error {
	l.urgency.Raise()
	settled := make(chan struct{})
	go func() {
		defer close(settled)
		l.work.Wait()
	}()
	select {
	case <-settled:
	case <-releaseRequested:
		return ErrReleased
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		return l.ctx.Err()
	}
	return l.err
}

// stop cancels what is asked for and waits for it to end.
func (l *labels) stop() {
	l.cancel()
	l.work.Wait()
}
