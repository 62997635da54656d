package server

import (
	"relabel"
	"relabel/atif"
)

// addOwn makes a trajectory of a document that relabel wrote: with labels, and with the policies of this import in
// the place of its own. The verdict is not kept, since nothing here can repeat it.
func (i *importing) addOwn(t *relabel.ImportedTrajectory, own *atif.Own, ignored map[string]int) error {
	for _, p := range []struct {
		field string
		was   *atif.PolicyRef
		is    relabel.Policy
	}{{"student", own.Student, i.student}, {"teacher", own.Teacher, i.teacher}} {
		if p.was != nil && p.was.Model != p.is.Model {
			return relabel.Errorf(relabel.CodeInvalid, "has the model %q, but the policy %s has %q: give a policy of the same model", p.was.Model, p.is.Name, p.is.Model).On("extra.relabel." + p.field)
		}
	}
	if own.Trajectory.EndReason != "" {
		t.Ending = relabel.Ending{Reason: own.Trajectory.EndReason, Patch: own.Patch, Submitted: len(own.Patch) > 0 && own.Trajectory.Submitted != nil && *own.Trajectory.Submitted}
	}
	if own.Trajectory.Resolved != nil {
		ignored["extra.relabel.trajectory.resolved"]++
	}
	for n := range t.Turns {
		turn := &t.Turns[n]
		ignoreSome(ignored, "steps.extra.relabel.others", len(turn.Others))
		turn.Others = nil
		turn.Action.PolicyID = i.student.ID
		if turn.Executor == relabel.Teacher {
			turn.Action.PolicyID = i.teacher.ID
		}
		switch {
		case turn.Executor == relabel.Teacher:
			turn.Label = &turn.Action
		case turn.Label == nil || turn.Label.Status != relabel.Received:
			turn.Label = &relabel.Action{PolicyID: i.teacher.ID, Status: relabel.Missing, Reason: relabel.NotAsked}
		default:
			turn.Label.PolicyID = i.teacher.ID
			ignoreSome(ignored, "steps.extra.relabel.label_chance", chances(turn.LabelChance))
		}
		turn.LabelChance = nil
	}
	return nil
}

func ignoreSome(ignored map[string]int, field string, n int) {
	if n > 0 {
		ignored[field] += n
	}
}

// chances is 1 if a label has a probability.
func chances(p *float64) int {
	if p == nil {
		return 0
	}
	return 1
}
