package mixer

import (
	"context"
	"runtime/debug"
	"strings"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/chat"
	"relabel/labelrule"
	"relabel/lease"
	"relabel/mixer/schedule"
)

// rollout is one attempt at a trajectory. Only the goroutine that runs live uses its fields.
type rollout struct {
	*Mixer
	claim   relabel.Claim
	log     zerolog.Logger // with trajectory, attempt and turn
	timer   *phaseTimer
	place   schedule.Place
	teacher Policy // nil if it is not asked
	student Policy // nil if the student executes no turn
	labels  *labels
	episode Episode               // nil while there is no sandbox
	state   []relabel.Message     // st
	sizes   *chat.PromptSizes     // of state
	prompt  int                   // tokens of s1, if the run bounds them or what follows
	rule    labelrule.Rule        // at which states the teacher is asked for a label
	failed  bool                  // a call of the last turn failed, or had an exit code other than 0
	silent  int                   // consecutive actions without a call
	last    *relabel.BrokenTurn   // the last action that was executed completely in the sandbox; nil before
	clock   *wallClock            // during the loop of turns
	ended   relabel.EndReason     // why the rollout ended, "" before
	broke   relabel.FailureReason // what ended the attempt outside of the agent, "" for nothing
	// deferred counts the turns whose labels are requested after the rollouts.
	deferred int
	// releaseRequested is closed when the trajectory is to return to the queue after the running
	// turn; nil means never.
	releaseRequested <-chan struct{}
	slot             slot   // during the loop of turns
	free             func() // releases the queue's slot
}

func newRollout(m *Mixer, life context.Context, c relabel.Claim) *rollout {
	timer := newPhaseTimer(c)
	r := &rollout{
		Mixer: m, claim: c, timer: timer,
		log: m.log.With().Stringer("trajectory", c.TrajectoryID).Int("attempt", c.Attempt).
			Str("instance", c.Trajectory.InstanceID).Logger().Hook(timer),
		place: schedule.Place{Seed: c.Run.Seed, Kind: c.Trajectory.Kind, Iteration: c.Trajectory.Iteration,
			Instance: c.Trajectory.InstanceID, Generation: c.Trajectory.Generation},
	}
	r.resetState()
	r.labels = newLabels(life, r)
	return r
}

// opening is s1.
func (r *rollout) opening() []relabel.Message { return r.claim.Run.Prompts.Opening(r.claim.Task) }

// resetState makes s1 the current state.
func (r *rollout) resetState() {
	r.state = r.opening()
	r.sizes = chat.NewPromptSizes(r.state, r.claim.Run.Prompts.Tools)
	r.failed = false
}

// live takes the claimed trajectory to done. Errors are a *failure, the cause of life's end, or the
// store's.
func (r *rollout) live(life context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg("a rollout panicked")
			err = &failure{reason: relabel.FailInternal, detail: "a bug in the rollout; details are in the log"}
		}
	}()
	if r.rule, err = labelrule.Parse(r.claim.Iteration.LabelRule, "label_rule"); err != nil {
		return err
	}
	if err := r.openPolicies(); err != nil {
		return err
	}
	ending, err := r.rollOut(life)
	if err != nil {
		return err
	}
	if r.deferred > 0 {
		return r.awaitLabels(life)
	}
	release, err := r.awaitEnd(life)
	if err != nil {
		return err
	}
	defer release()
	return r.verify(life, ending)
}

// awaitEnd acquires the semaphore of the ends of trajectories and waits for late labels.
func (r *rollout) awaitEnd(life context.Context) (release func(), err error) {
	ctx, over := r.besideTeacher(life)
	defer over()
	if release, err = r.acquire(ctx, r.ending); err != nil {
		return nil, err
	}
	r.free()
	if err := r.lateLabels(ctx); err != nil {
		release()
		return nil, stopped(ctx, err)
	}
	return release, nil
}

// rollOut completes the rollout and returns its ending. It prepares the sandbox, and replays earlier
// turns there, before it acquires a slot. A rollout that had ended before its claim needs neither:
// only labels may be pending.
func (r *rollout) rollOut(life context.Context) (ending relabel.Ending, err error) {
	if end := r.claim.Ending; end != nil {
		r.ended = end.Reason
		if r.tooEarly() {
			r.deferred = r.pendingLabels()
		} else {
			r.labels.askPending(r.claim.Turns)
		}
		return *end, nil
	}
	tooLong, err := r.measurePrompt(life)
	if err != nil {
		return ending, stopped(life, err)
	}
	if tooLong {
		return r.endRollout(life, relabel.EndPromptTooLong)
	}
	if err := r.startSandbox(life); err != nil {
		return ending, err
	}
	reason, err := r.resume(life)
	if err != nil {
		return ending, err
	}
	if r.slot.releaseSlot, err = r.acquire(life, r.rollouts); err != nil {
		return ending, err
	}
	defer r.slot.release()
	if reason == "" {
		if reason, err = r.roll(life); err != nil {
			return ending, err
		}
	}
	return r.endRollout(life, reason)
}

// acquire waits for the semaphore.
func (r *rollout) acquire(life context.Context, s semaphore) (release func(), err error) {
	defer r.timer.in(relabel.PhaseSlot)()
	return s.acquire(life, r.releaseRequested)
}

// lateLabels waits for the pending labels.
func (r *rollout) lateLabels(ctx context.Context) error {
	defer r.timer.in(relabel.PhaseLabels)()
	return r.labels.wait(ctx, r.releaseRequested)
}

// openPolicies opens only the policies that this trajectory asks: a missing secret of the student
// does not affect a teacher's rollout.
func (r *rollout) openPolicies() error {
	var err error
	if r.asksTeacher() {
		if r.teacher, err = r.environment.Policy(r.claim.Teacher); err != nil {
			return policyFailure(relabel.Teacher, err)
		}
	}
	if r.claim.Ending == nil && strings.Contains(string(r.claim.Trajectory.Executors), "s") {
		if r.student, err = r.environment.Policy(r.claim.Student); err != nil {
			return policyFailure(relabel.Student, err)
		}
	}
	return nil
}

// asksTeacher reports whether the teacher is asked for actions or labels.
func (r *rollout) asksTeacher() bool {
	switch {
	case r.claim.Ending != nil:
		return r.pendingLabels() > 0 && !r.tooEarly()
	case r.claim.Run.Labels.Deferred():
		return strings.Contains(string(r.claim.Trajectory.Executors), "T")
	}
	return r.collects()
}

// collects reports whether labels are requested.
func (r *rollout) collects() bool { return r.claim.Trajectory.Kind.Labelled() }

func (r *rollout) startSandbox(life context.Context) error {
	out := r.timer.in(relabel.PhaseStart)
	episode, err := r.environment.Start(life, r.claim)
	tell2(r.observe.Started, out(), err)
	if err != nil {
		return stopped(life, environmentFailure(err))
	}
	r.episode = episode
	host, container := episode.Sandbox()
	if container == "" {
		return nil
	}
	return r.write(life, func(ctx context.Context) error { return r.store.SetSandbox(ctx, r.claim.Fence, host, container) })
}

// parseAt returns what classifies actions at a state. Any goroutine may call both.
func (r *rollout) parseAt(state []relabel.Message) func(relabel.Message) relabel.ParseOutcome {
	return func(action relabel.Message) relabel.ParseOutcome { return r.environment.Parse(r.claim, state, action) }
}

// mustRelease reports whether the trajectory is to return to the queue before the next turn.
func (r *rollout) mustRelease() bool {
	select {
	case <-r.releaseRequested:
		return true
	default:
		return false
	}
}

// closeSandbox removes the sandbox if there is one. A failure is only logged: the reaper finds the
// sandbox by its labels.
func (r *rollout) closeSandbox(ctx context.Context) {
	if r.episode == nil {
		return
	}
	ctx, cancel := detached(ctx, closeLimit)
	defer cancel()
	if err := r.episode.Close(ctx); err != nil {
		r.log.Warn().Err(err).Msg("cannot remove the sandbox")
	}
	r.episode = nil
}

// write is writeBeside with the time counted as a phase of the rollout.
func (r *rollout) write(ctx context.Context, do func(context.Context) error) error {
	defer r.timer.in(relabel.PhaseDatabase)()
	return r.writeBeside(ctx, do)
}

// writeBeside writes to the store. A shutdown does not cancel it. A write without an answer in time
// is CodeUnavailable.
func (r *rollout) writeBeside(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := detached(ctx, writeLimit)
	defer cancel()
	err := do(ctx)
	if err != nil && ctx.Err() != nil && !lease.Lost(err) {
		return relabel.Errorf(relabel.CodeUnavailable, "the store did not answer in %s", writeLimit).Because(err)
	}
	return err
}

// say logs the trajectory's new state.
func (r *rollout) say(state relabel.TrajectoryState) {
	r.log.Info().Str("state", string(state)).Msg("trajectory")
}
