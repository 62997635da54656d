package mixer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"relabel"
)

// divergence is the turn at which a replay reached another state than the recorded one, and the
// difference, which is safe to show.
type divergence struct {
	t    int
	what string
}

func (d *divergence) Error() string { return fmt.Sprintf("turn %d: %s", d.t, d.what) }

// resume replays and adopts the turns that an earlier attempt committed, and requests their pending
// labels. If the last of them ended the rollout, it returns the reason. After a divergence the
// rollout restarts.
func (r *rollout) resume(life context.Context) (relabel.EndReason, error) {
	if len(r.claim.Turns) == 0 {
		return "", nil
	}
	out := r.timer.in(relabel.PhaseReplay)
	reason, err := r.replay(life)
	out()
	var differs *divergence
	switch {
	case errors.As(err, &differs):
		tell2(r.observe.Replayed, differs.t, false)
		return "", r.startOver(life, differs)
	case err != nil:
		return "", err
	}
	err = r.write(life, func(ctx context.Context) error {
		return r.store.AdoptTurns(ctx, r.claim.Fence, r.claim.Trajectory.Trail)
	})
	if err != nil {
		return "", err
	}
	tell2(r.observe.Replayed, len(r.claim.Turns), true)
	r.log.Info().Int("turns", len(r.claim.Turns)).Int("of_attempt", r.claim.Trajectory.Trail).Msg("replayed")
	if r.claim.Run.Labels.Deferred() {
		r.deferred = r.pendingLabels()
	} else {
		r.labels.askPending(r.claim.Turns)
	}
	return reason, nil
}

// replay executes the recorded actions in the fresh sandbox, without asking a model, and compares
// each turn with its record. The state consists of the recorded observations, which the models saw.
// If commands break a second sandbox, or fill the disk, the rollout ends with all recorded turns.
// Errors are a *divergence, the sandbox's, or the cause of life's end.
func (r *rollout) replay(life context.Context) (reason relabel.EndReason, err error) {
	for i, turn := range r.claim.Turns {
		if ended := endingOf(turn); ended != "" {
			return ended, nil
		}
		r.timer.begin(turn.T)
		if r.mustRelease() {
			return "", ErrReleased
		}
		again := turn
		finished, err := r.play(life, life, &again)
		if err != nil {
			return r.judge(life, &relabel.BrokenTurn{T: turn.T, Executor: turn.Executor, Action: turn.Action}, err)
		}
		what := difference(turn, again.Observations, again.Tree)
		if what == "" && r.claim.Run.TaskKind == relabel.Localise {
			what = otherAnswer(turn, again.Observations)
		}
		if last := i == len(r.claim.Turns)-1; what == "" && finished && !last {
			what = "finish ends the trajectory here"
		}
		if what != "" {
			return "", &divergence{turn.T, what}
		}
		reason = r.advance(turn, finished)
	}
	return reason, nil
}

// difference compares a replayed turn with its record: parsed calls, exit codes and the working tree.
// It ignores output, which may contain times. "" means that nothing differs.
func difference(recorded relabel.Turn, obs []relabel.Observation, tree string) string {
	if len(obs) != len(recorded.Observations) {
		return fmt.Sprintf("%d observations, recorded are %d", len(obs), len(recorded.Observations))
	}
	for k, was := range recorded.Observations {
		switch is := obs[k]; {
		case exitCode(is) != exitCode(was):
			return fmt.Sprintf("call %d ended with %s, recorded is %s", k, exitCode(is), exitCode(was))
		case is.Failed != was.Failed:
			return fmt.Sprintf("call %d failed: %v, recorded is %v", k, is.Failed, was.Failed)
		}
	}
	if tree != recorded.Tree {
		return "the working tree is another one"
	}
	return ""
}

// otherAnswer compares the texts of a search's answers, which depend on nothing but the repository and how
// it is parsed: another worker may lack the parser of a language.
func otherAnswer(recorded relabel.Turn, obs []relabel.Observation) string {
	for k, was := range recorded.Observations {
		if obs[k].Content != was.Content {
			return fmt.Sprintf("call %d has another answer", k)
		}
	}
	return ""
}

func exitCode(o relabel.Observation) string {
	if o.ExitCode == nil {
		return "no exit code"
	}
	return fmt.Sprintf("exit code %d", *o.ExitCode)
}

// startOver begins again at turn 1 in another fresh sandbox. The recorded turns stay with their
// attempt.
func (r *rollout) startOver(life context.Context, d *divergence) error {
	r.log.Warn().Int("of_attempt", r.claim.Trajectory.Trail).Str("what", d.what).Msg("the replay diverged; restarting the rollout")
	r.closeSandbox(life)
	err := r.write(life, func(ctx context.Context) error {
		return r.store.Diverge(ctx, r.claim.Fence, r.claim.Trajectory.Trail, d.Error())
	})
	if err != nil {
		return err
	}
	r.claim.Turns, r.claim.Broken, r.claim.BrokeAt, r.silent, r.last = nil, nil, nil, 0, nil
	r.timer.begin(0)
	r.resetState()
	return r.startSandbox(life)
}

// spent is the duration of the turns that were committed before. Neither waits nor replays count
// against the rollout's wall clock.
func (r *rollout) spent() time.Duration {
	var sum time.Duration
	for _, turn := range r.claim.Turns {
		sum += turn.EndedAt.Sub(turn.StartedAt) - time.Duration(turn.Time.Endpoint)*time.Millisecond
	}
	return sum
}

// pendingLabels counts the pending labels of the turns that were committed before.
func (r *rollout) pendingLabels() (n int) {
	for _, turn := range r.claim.Turns {
		if isPending(turn) {
			n++
		}
	}
	return n
}

func isPending(turn relabel.Turn) bool {
	return turn.Label != nil && turn.Label.Status == relabel.Pending
}
