package mixer

import (
	"context"
	"errors"
	"slices"
	"time"

	"relabel"
	"relabel/mixer/schedule"
)

// errWallClock ends a rollout that reached its time limit.
var errWallClock = errors.New("the rollout reached its time limit")

// maxSilent is the number of consecutive actions without a call that ends a trajectory.
const maxSilent = 3

// roll is the loop of algorithm 1, from the first turn that was not committed before. It returns why
// the rollout ended.
func (r *rollout) roll(life context.Context) (relabel.EndReason, error) {
	wall := time.Duration(r.claim.Run.Limits.WallClockSeconds)*time.Second - r.spent()
	ctx, clock, end := newWallClock(life, wall)
	defer end()
	r.clock = clock
	turns := len(r.claim.Trajectory.Executors)
	last := r.rule.LastTurn(r.claim.Trajectory.Executors)
	for t := len(r.claim.Turns) + 1; t <= last; t++ {
		if r.mustRelease() {
			return "", ErrReleased
		}
		if err := context.Cause(ctx); err != nil {
			return wallClockEnds(err)
		}
		if err := r.retakeSlot(ctx); err != nil {
			return wallClockEnds(err)
		}
		turn, finished, err := r.turn(ctx, life, t)
		if ended := endingOf(turn); err == nil && ended != "" {
			return ended, nil
		}
		switch {
		case relabel.CodeOf(err) == relabel.CodeContextOverflow:
			return relabel.EndContext, nil
		case err != nil:
			return wallClockEnds(err)
		}
		if reason := r.advance(turn, finished); reason != "" {
			return reason, nil
		}
	}
	if last < turns {
		return relabel.EndTeacherTurns, nil
	}
	return relabel.EndMaxTurns, nil
}

// advance makes st+1 out of st and the turn. It returns why the rollout ends, "" if it continues.
func (r *rollout) advance(turn relabel.Turn, finished bool) relabel.EndReason {
	silent, full := r.fellSilent(turn.Action), r.contextIsFull(turn)
	r.last = &relabel.BrokenTurn{T: turn.T, Executor: turn.Executor, Action: turn.Action}
	r.state = relabel.AppendTurn(r.state, turn)
	r.sizes.Add(turn)
	r.failed = anyFailed(turn.Observations)
	switch {
	case finished:
		return relabel.EndFinish
	case silent:
		return relabel.EndNoCall
	case full:
		return relabel.EndContext
	}
	return ""
}

// wallClockEnds turns errWallClock into an end of the rollout.
func wallClockEnds(err error) (relabel.EndReason, error) {
	if errors.Is(err, errWallClock) {
		return relabel.EndWallClock, nil
	}
	return "", err
}

// turn plays turn t at the state st: the executor acts, the environment answers, and the turn
// commits. Calls and commands end with ctx, which ends with life or the wall clock; an action that
// was executed completely commits nevertheless.
func (r *rollout) turn(ctx, life context.Context, t int) (turn relabel.Turn, finished bool, err error) {
	r.timer.begin(t)
	turn = relabel.Turn{T: t, Executor: r.claim.Trajectory.Executors.At(t), StartedAt: time.Now()}
	req, err := r.actRequest(ctx, turn)
	if err != nil {
		return turn, false, err
	}
	var label *pendingLabel
	defer func() {
		if err != nil && label != nil {
			label.cancel()
		}
	}()
	if !r.rule.NeedsLogprobs() {
		label = r.askLabel(&turn)
	}
	answer, err := r.choose(ctx, &turn, req)
	if err != nil {
		return turn, false, err
	}
	if r.rule.NeedsLogprobs() { // of the student's action
		label = r.askLabel(&turn)
	}
	if finished, err = r.inSandbox(ctx, life, &turn); err != nil {
		err = r.judgeBreak(life, &turn, err)
	}
	if lost := r.recorded(answer); err == nil && lost != nil {
		err = stopped(ctx, lost)
	}
	if err != nil {
		return turn, false, err
	}
	turn.EndedAt, turn.Time = time.Now(), r.timer.turnTime()
	return turn, finished, r.commit(life, turn, label)
}

// inSandbox executes the turn's action and takes the working tree's fingerprint.
func (r *rollout) inSandbox(ctx, life context.Context, turn *relabel.Turn) (finished bool, err error) {
	defer r.timer.in(relabel.PhaseSandbox)()
	return r.play(ctx, life, turn)
}

// play executes the turn's action until ctx ends, and takes the fingerprint until life does.
func (r *rollout) play(ctx, life context.Context, turn *relabel.Turn) (finished bool, err error) {
	if turn.Observations, finished, err = r.execute(ctx, turn.T, turn.Action); err != nil {
		return false, stopped(ctx, environmentFailure(err))
	}
	if turn.Tree, err = r.tree(life); err != nil {
		return false, stopped(life, environmentFailure(err))
	}
	return finished, nil
}

// choose sets the turn's action: the executor's answer at st, or the action of an earlier attempt
// whose sandbox broke during it.
func (r *rollout) choose(ctx context.Context, turn *relabel.Turn, req relabel.ChatRequest) (answer relabel.Completion, err error) {
	if r.isBroken(turn.T) {
		turn.Action = r.claim.Broken.Action
		return answer, nil
	}
	if answer, err = r.act(ctx, req, turn.Executor); err != nil {
		return answer, err
	}
	turn.Action = answer.Action(r.versionOf(turn.Executor).ID, r.parseAt(r.state))
	return answer, nil
}

// commit stores the turn with its label: the teacher's own action, one that the label rule did not
// select, the label that was requested while the student acted (pending until it arrives), a pending one
// that will be requested after the rollouts, or none if the student is alone.
func (r *rollout) commit(life context.Context, turn relabel.Turn, label *pendingLabel) error {
	arrived := false
	switch {
	case turn.Executor == relabel.Teacher:
		turn.Label = &turn.Action
	case r.collects() && turn.Label != nil: // not selected
	case r.collects():
		turn.Label = &relabel.Action{PolicyID: r.claim.Teacher.ID, Status: relabel.Pending}
		if label == nil {
			r.deferred++
		} else if now, ok := label.now(); ok {
			turn.Label, arrived = &now, true
		}
	}
	begun := time.Now()
	err := r.write(life, func(ctx context.Context) error { return r.store.CommitTurn(ctx, r.claim.Fence, turn) })
	if err != nil {
		return err
	}
	if r.observe.Committed != nil {
		r.observe.Committed(r.claim, turn, time.Since(begun))
	}
	if label != nil && !arrived {
		r.labels.settleLater(label)
	}
	return nil
}

// actRequest is the request for the executor's action at st, within its context. A prompt that does
// not fit fails here, before a label is requested. An action that is executed again needs no request.
func (r *rollout) actRequest(ctx context.Context, turn relabel.Turn) (req relabel.ChatRequest, err error) {
	if r.isBroken(turn.T) {
		return req, nil
	}
	version := r.versionOf(turn.Executor)
	req, err = r.actLimit(version).Fit(ctx, r.request(r.state, turn.T, turn.Executor, relabel.PurposeAct), r.sizes.Of(version.ID))
	if err != nil {
		err = stopped(ctx, err)
	}
	return req, err
}

// act asks the executor for its action. The call is recorded while the action is executed.
func (r *rollout) act(ctx context.Context, req relabel.ChatRequest, executor relabel.Role) (relabel.Completion, error) {
	policy, phase := r.teacher, relabel.PhaseTeacher
	if executor == relabel.Student {
		policy, phase = r.student, relabel.PhaseStudent
	}
	flights := &inFlight{}
	req.Clock, req.Beside = &callClock{flights: flights, next: r.clock}, true
	watched, unwatch := r.besideExecutor(ctx, req.T, r.versionOf(executor), flights)
	defer unwatch()
	out, over := r.timer.in(phase), r.clock.call()
	defer over()
	answer, err := policy.Complete(watched, req)
	if err != nil {
		err = stopped(watched, policyFailure(executor, err))
	}
	unwatch()
	r.timer.waited(phase, out()-answer.Took)
	return answer, err
}

// versionOf is the policy that plays a role.
func (r *rollout) versionOf(role relabel.Role) relabel.Policy {
	if role == relabel.Student {
		return r.claim.Student
	}
	return r.claim.Teacher
}

// recorded waits until the answer's call is recorded: no turn commits before.
func (r *rollout) recorded(answer relabel.Completion) error {
	if answer.Recorded == nil {
		return nil
	}
	defer r.timer.in(relabel.PhaseDatabase)()
	return answer.Recorded()
}

// request is the request for a role's action at the state of turn t. An evaluation decodes greedily
// (paper F.1).
func (r *rollout) request(state []relabel.Message, t int, role relabel.Role, purpose relabel.Purpose) relabel.ChatRequest {
	sampling := r.versionOf(role).Sampling
	if r.claim.Trajectory.Kind == relabel.Evaluate {
		sampling = sampling.Greedy()
	}
	seed := schedule.CallSeed(r.place, t, role)
	return relabel.ChatRequest{
		// Clipped because the state grows in place while a label's request is still read.
		Messages: slices.Clip(state), Tools: r.claim.Run.Prompts.Tools,
		Sampling: sampling, Seed: &seed,
		TrajectoryID: r.claim.TrajectoryID, Attempt: r.claim.Attempt, T: t, Purpose: purpose,
	}
}
