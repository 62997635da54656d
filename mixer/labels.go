package mixer

import (
	"context"
	"runtime/debug"
	"sync"

	"relabel"
	"relabel/chat"
)

// labels requests ãt from the teacher during the student's turns. All turns without a label are
// requested concurrently; the policy limits the calls to the endpoint.
type labels struct {
	ctx    context.Context // ends with the rollout's life
	cancel context.CancelFunc
	r      *rollout
	work   sync.WaitGroup

	flights inFlight
	urgency relabel.Urgency // raised when the rollout has ended and waits for labels

	mu  sync.Mutex
	err error // the first error other than a missing label
}

func newLabels(life context.Context, r *rollout) *labels {
	ctx, cancel := context.WithCancel(life)
	return &labels{ctx: ctx, cancel: cancel, r: r}
}

// pendingLabel is a requested label. answer receives it, or is closed without one when the request
// was cancelled or the rollout ended.
type pendingLabel struct {
	t      int
	answer chan relabel.Action
	cancel context.CancelFunc // cancels the request of a turn that did not commit
}

// ask requests the label of turn t, without waiting. A label whose prompt does not fit the teacher's
// context is missing, without a request.
func (l *labels) ask(t int, req relabel.ChatRequest, sizes *chat.PromptSizes) *pendingLabel {
	estimate := sizes.Of(l.r.claim.Teacher.ID)
	ctx, cancel := context.WithCancel(l.ctx)
	req.Urgency, req.Clock = &l.urgency, &callClock{flights: &l.flights}
	p := &pendingLabel{t: t, answer: make(chan relabel.Action, 1), cancel: cancel}
	l.r.timer.requested.Add(1)
	l.spawn(func() error {
		defer cancel()
		defer l.r.timer.requested.Add(-1)
		defer close(p.answer)
		a, err := l.complete(ctx, req, estimate)
		if err == nil && ctx.Err() == nil {
			p.answer <- a
		}
		return err
	})
	return p
}

// askPending requests the pending labels of turns again.
func (l *labels) askPending(turns []relabel.Turn) {
	state := l.r.opening()
	sizes := chat.NewPromptSizes(state, l.r.claim.Run.Prompts.Tools)
	for _, turn := range turns {
		if isPending(turn) {
			l.settleLater(l.ask(turn.T, l.r.request(state, turn.T, relabel.Teacher, relabel.PurposeLabel), sizes))
		}
		sizes.Add(turn)
		state = relabel.AppendTurn(state, turn)
	}
}

// complete asks the teacher. A label that is not available is a Missing action; an error is the
// store's.
func (l *labels) complete(ctx context.Context, req relabel.ChatRequest, estimate chat.PromptEstimate) (relabel.Action, error) {
	teacher := l.r.claim.Teacher.ID
	req, err := l.r.labelLimit().Fit(ctx, req, estimate)
	if err != nil && relabel.CodeOf(err) != relabel.CodeContextOverflow && ctx.Err() == nil {
		return relabel.Action{}, err // the store could not provide the tokenizer
	}
	var answer relabel.Completion
	if err == nil {
		answer, err = l.r.teacher.Complete(ctx, req)
	}
	switch {
	case ctx.Err() != nil:
		return relabel.Action{}, nil // the label is no longer wanted
	case relabel.CodeOf(err) == relabel.CodeUnavailable:
		return relabel.Action{}, err
	case err != nil:
		return relabel.MissingAction(teacher, err), nil
	}
	return answer.Action(teacher, l.r.parseAt(req.Messages)), nil
}

// now returns the label if it has arrived; ok is false otherwise.
func (p *pendingLabel) now() (label relabel.Action, ok bool) {
	select {
	case label, ok = <-p.answer:
	default:
	}
	return label, ok
}

// settleLater stores the label when it arrives. Its turn has committed with a pending label.
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
			return nil // an earlier write stored it, but its answer was lost
		}
		if err == nil {
			tell(l.r.observe.Settled, a)
		}
		return err
	})
}

// spawn runs do concurrently and keeps its error or panic.
func (l *labels) spawn(do func() error) {
	l.work.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				l.r.log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg("panic while requesting a label")
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

// wait waits until every label is available or missing, ctx ends, or the release of the trajectory
// is requested (ErrReleased). No label may be requested meanwhile, so only the rollout's own
// goroutine may call it.
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

// stop cancels all requests and waits for their ends.
func (l *labels) stop() {
	l.cancel()
	l.work.Wait()
}
