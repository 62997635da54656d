package mixer

import (
	"context"
	"runtime/debug"
	"strings"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/chat"
	"relabel/lease"
	"relabel/mixer/schedule"
)

// rollout is one attempt at a trajectory. Its fields belong to the goroutine that runs
// live; labels has its own.
type rollout struct {
	*Mixer
	claim   relabel.Claim
	log     zerolog.Logger // puts trajectory, attempt and turn on each line
	timer   *phaseTimer
	place   schedule.Place
	teacher Policy // nil in an evaluation
	student Policy // nil where the student executes no turn
	labels  *labels
	episode Episode             // nil before the sandbox is there and after it is gone
	state   []relabel.Message   // st
	sizes   *chat.PromptSizes   // of state
	silent  int                 // actions without a call, in a row
	last    *relabel.BrokenTurn // the last action that was executed to its end in the sandbox; nil before
	clock   *wallClock          // while turns are rolled out
	// deferred counts the turns whose labels are asked for after the rollouts.
	deferred int
	// releaseRequested is closed when the trajectory is to go back to the queue once the
	// running turn is committed; nil where it never is.
	releaseRequested <-chan struct{}
	slot             slot   // while turns are rolled out
	free             func() // says that the queue's slot is no longer needed
}

func newRollout(m *Mixer, life context.Context, c relabel.Claim) *rollout {
	a := newPhaseTimer(c)
	r := &rollout{
		Mixer: m, claim: c, timer: a,
		log: m.log.With().Stringer("trajectory", c.TrajectoryID).Int("attempt", c.Attempt).
			Str("instance", c.Trajectory.InstanceID).Logger().Hook(a),
		place: schedule.Place{Seed: c.Run.Seed, Iteration: c.Trajectory.Iteration,
			Instance: c.Trajectory.InstanceID, Generation: c.Trajectory.Generation},
	}
	r.state = r.opening()
	r.sizes = chat.NewPromptSizes(r.state, c.Run.Prompts.Tools)
	r.labels = newLabels(life, r)
	return r
}

// opening is s1.
func (r *rollout) opening() []relabel.Message { return r.claim.Run.Prompts.Opening(r.claim.Task) }

// live takes the trajectory from where it was claimed to done. Errors are a *failure, the cause of
// life's end, or the store's.
func (r *rollout) live(life context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg("a rollout panicked")
			err = &failure{reason: relabel.FailInternal, detail: "a bug in the rollout; details are in the log"}
		}
	}()
	if err := r.openPolicies(); err != nil {
		return err
	}
	patch, err := r.rollOut(life)
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
	return r.verify(life, patch)
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

// rollOut brings the rollout to its end and returns its patch. The sandbox is made ready,
// and what was committed before replayed in it, before it has a slot. One that was over when it was claimed needs neither: only labels may be owed.
func (r *rollout) rollOut(life context.Context) (patch []byte, err error) {
	if end := r.claim.Ending; end != nil {
		if r.tooEarly() {
			r.deferred = r.owed()
		} else {
			r.labels.askOwed(r.claim.Turns)
		}
		return end.Patch, nil
	}
	if err := r.startSandbox(life); err != nil {
		return nil, err
	}
	reason, err := r.resume(life)
	if err != nil {
		return nil, err
	}
	if r.slot.releaseSlot, err = r.acquire(life, r.rollouts); err != nil {
		return nil, err
	}
	defer r.slot.release()
	if reason == "" {
		if reason, err = r.roll(life); err != nil {
			return nil, err
		}
	}
	return r.endRollout(life, reason)
}

// acquire waits for the semaphore.
func (r *rollout) acquire(life context.Context, s semaphore) (release func(), err error) {
	defer r.timer.in(relabel.PhaseSlot)()
	return s.acquire(life, r.releaseRequested)
}

// lateLabels waits for the labels that are still owed.
func (r *rollout) lateLabels(ctx context.Context) error {
	defer r.timer.in(relabel.PhaseLabels)()
	return r.labels.wait(ctx, r.releaseRequested)
}

// openPolicies opens the policies that this trajectory will ask, and no other: a
// student whose secret is missing does not matter to a teacher's rollout.
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
		return r.owed() > 0 && !r.tooEarly()
	case r.claim.Run.Labels.Deferred():
		return strings.Contains(string(r.claim.Trajectory.Executors), "T")
	}
	return r.collects()
}

// collects reports whether labels are asked for.
func (r *rollout) collects() bool { return r.claim.Trajectory.Kind != relabel.Evaluate }

func (r *rollout) startSandbox(life context.Context) error {
	out := r.timer.in(relabel.PhaseStart)
	episode, err := r.environment.Start(life, r.claim)
	tell2(r.observe.Started, out(), err)
	if err != nil {
		return stopped(life, environmentFailure(err))
	}
	r.episode = episode
	host, container := episode.Sandbox()
	return r.write(life, func(ctx context.Context) error {
		return r.store.SetSandbox(ctx, r.claim.Fence, host, container)
	})
}

// parse says how an action is understood. It may be called from any goroutine.
func (r *rollout) parse(action relabel.Message) relabel.ParseOutcome {
	return r.environment.Parse(r.claim, action)
}

// mustRelease reports whether the trajectory is to go back to the queue before another
// turn begins.
func (r *rollout) mustRelease() bool {
	select {
	case <-r.releaseRequested:
		return true
	default:
		return false
	}
}

// closeSandbox removes the sandbox if it is there. That it could not be removed changes
// nothing of its results: it is logged, and the reaper finds it by its labels.
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

// write is writeBeside by the rollout itself, which waits for it.
func (r *rollout) write(ctx context.Context, do func(context.Context) error) error {
	defer r.timer.in(relabel.PhaseDatabase)()
	return r.writeBeside(ctx, do)
}

// writeBeside writes to the store, uninterrupted by a shutdown. A write that was not answered
// in time is the store's trouble, whatever error came of it.
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
