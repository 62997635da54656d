package web

import (
	"fmt"

	"relabel"
)

// turnView is a turn as the page shows it.
type turnView struct {
	T            int
	Executor     relabel.Role
	State        string // address of st
	Full         string // address of the turn, whole
	Took         string
	Action       actionView
	Label        *actionView // beside a student's action
	Agreement    agreement
	Observations []observationView
}

// observationView is what the environment answered to one call.
type observationView struct {
	Tool   string
	Took   string
	Exit   string // the exit code, "" where there is none
	Failed bool
	Body   body
}

// agreement says how a student's action stands to its label.
type agreement struct{ Class, Sign, Word string }

// agreementOf compares the executed action with the label. A teacher's turn, and one of
// an evaluation, have nothing to compare.
func agreementOf(turn relabel.Turn) agreement {
	switch {
	case turn.Executor == relabel.Teacher || turn.Label == nil:
		return agreement{}
	case turn.Label.Status == relabel.Missing:
		return agreement{"missing", "!", "label missing"}
	case turn.Label.Status == relabel.Owed:
		return agreement{"owed", "?", "label still asked for"}
	case relabel.Agree(turn.Action.Message, turn.Label.Message):
		return agreement{"equal", "✓", "label equal"}
	}
	return agreement{"different", "▲", "label different"}
}

func viewTurn(turn relabel.Turn, id relabel.ID, cut func(string) body) turnView {
	v := turnView{
		T: turn.T, Executor: turn.Executor, Agreement: agreementOf(turn), Action: viewAction(turn.Action, cut),
		State: fmt.Sprintf("/v1/trajectories/%s/states/%d", id, turn.T),
		Full:  fmt.Sprintf("/trajectories/%s/turns/%d", id, turn.T),
		Took:  duration(turn.EndedAt.Sub(turn.StartedAt).Milliseconds()),
	}
	if turn.Label != nil && turn.Executor != relabel.Teacher {
		label := viewAction(*turn.Label, cut)
		v.Label = &label
	}
	for _, o := range turn.Observations {
		view := observationView{Tool: o.Tool, Took: duration(o.Millis), Failed: o.Failed, Body: cut(o.Content)}
		if o.ExitCode != nil {
			view.Exit = fmt.Sprint(*o.ExitCode)
		}
		v.Observations = append(v.Observations, view)
	}
	return v
}
