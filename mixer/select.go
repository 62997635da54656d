package mixer

import (
	"slices"

	"relabel"
	"relabel/labelrule"
)

// askLabel decides whether the teacher is asked at the student's state, sets the turn's chance of that, and
// requests the label, without waiting, unless labels are deferred. If the rule does not select the state,
// it sets the turn's label. It returns nil if no label is requested now.
func (r *rollout) askLabel(turn *relabel.Turn) *pendingLabel {
	if !r.collects() || turn.Executor == relabel.Teacher {
		return nil
	}
	d := r.rule.Decide(labelrule.Place{Seed: r.place.Seed, Iteration: r.place.Iteration, Instance: r.place.Instance, Generation: r.place.Generation},
		r.claim.Trajectory.Executors, labelrule.State{T: turn.T, AfterFailure: r.failed, Uncertainty: labelrule.Uncertainty(turn.Action.Logprobs)})
	if d.Chance < 1 {
		turn.LabelChance = &d.Chance
	}
	switch {
	case !d.Ask:
		turn.Label = &relabel.Action{PolicyID: r.claim.Teacher.ID, Status: relabel.NotSelected}
		return nil
	case r.claim.Run.Labels.Deferred():
		return nil
	}
	return r.labels.ask(turn.T, r.request(r.state, turn.T, relabel.Teacher, relabel.PurposeLabel), r.sizes)
}

// anyFailed reports whether a call failed or had an exit code other than 0.
func anyFailed(obs []relabel.Observation) bool {
	return slices.ContainsFunc(obs, func(o relabel.Observation) bool { return o.Failed || o.ExitCode != nil && *o.ExitCode != 0 })
}
