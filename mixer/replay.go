package mixer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"relabel"
	"relabel/chat"
)

// divergence says at which turn a replay came to another state than the recorded one,
// and in what. Its words are safe to show.
type divergence struct {
	t    int
	what string
}

func (d *divergence) Error() string { return fmt.Sprintf("turn %d: %s", d.t, d.what) }

// resume takes up the turns that an earlier attempt committed: it replays them, makes
// them this attempt's, and asks for the labels that they owe. Where the last of them
// ended the rollout it returns why. After a divergence the rollout begins again.
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
		r.deferred = r.owed()
	} else {
		r.labels.askOwed(r.claim.Turns)
	}
	return reason, nil
}

// replay executes the recorded actions in the fresh sandbox, without asking any model,
// and holds each turn against its record. The state is made of what was recorded, for
// that is what the models saw. Where commands break a second sandbox, or fill the disk, the rollout
// is over with all turns that are recorded. Errors are a *divergence, the sandbox's or life's end.
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

// difference says in what a replayed turn differs from its record, "" where in nothing:
// the calls that were understood, their exit codes, the working tree. What commands
// print is left out, for it may tell the time.
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

func exitCode(o relabel.Observation) string {
	if o.ExitCode == nil {
		return "no exit code"
	}
	return fmt.Sprintf("exit code %d", *o.ExitCode)
}

// startOver leaves the recorded turns to their attempt and begins at turn 1, in another
// fresh sandbox.
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
	r.state = r.opening()
	r.sizes = chat.NewPromptSizes(r.state, r.claim.Run.Prompts.Tools)
	return r.startSandbox(life)
}

// spent is how long the turns took that were committed before: neither waiting, for an
// endpoint too, nor replay counts against the rollout's wall clock.
func (r *rollout) spent() time.Duration {
	var sum time.Duration
	for _, turn := range r.claim.Turns {
		sum += turn.EndedAt.Sub(turn.StartedAt) - time.Duration(turn.Time.Endpoint)*time.Millisecond
	}
	return sum
}

// owed counts the labels of the turns that were committed before that are still owed.
func (r *rollout) owed() int {
	n := 0
	for _, turn := range r.claim.Turns {
		if owing(turn) {
			n++
		}
	}
	return n
}

func owing(turn relabel.Turn) bool { return turn.Label != nil && turn.Label.Status == relabel.Owed }
