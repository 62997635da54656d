package shard

import (
	"testing"

	"relabel"
	"relabel/shard/render"
	"relabel/shard/shardtest"
)

// spansOf returns the spans of the linear rows of a trajectory's labels, by turn.
func spansOf(t *testing.T, tr relabel.ExportTrajectory, form relabel.ExportForm) map[int]relabel.ExportSpan {
	t.Helper()
	s := newFixedStore(tr)
	form.Views, form.Capacity, form.MaxLength, form.Normalisation = []relabel.View{relabel.ViewLinear}, 20_000, 20_000, relabel.PerToken
	s.export.Form = form
	x := newTestExporter(t, s)
	e := export(t, s, x)
	found := map[int]relabel.ExportSpan{}
	held, err := x.Holds(t.Context(), e, relabel.ViewLinear, tr.Trajectory.ID, func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range held {
		found[h.Span.Turn] = h.Span
	}
	return found
}

func TestServedIDsAreTakenWhereTheLabelIsTheStudentsOwn(t *testing.T) {
	folder := shardtest.Student(t)
	s, err := render.Open(relabel.ExportForm{Tokenizer: folder})
	if err != nil {
		t.Fatal(err)
	}
	trajectory := func(whose relabel.ID) relabel.ExportTrajectory {
		tr := plainTrajectory()
		label := *tr.Turns[0].Label
		label.PolicyID, label.PromptTokenIDs, label.TokenIDs = whose, []int32{40, 41, 42}, []int32{50, s.StopID}
		tr.Turns[0].Label = &label
		return tr
	}
	student := someTrajectory(1, 1, 0).Student.ID
	for name, c := range map[string]struct {
		whose relabel.ID
		form  relabel.ExportForm
		want  string
	}{
		"the student's":                       {student, relabel.ExportForm{}, "served"},
		"a teacher's, by its own tokenizer":   {fixedID("teacher"), relabel.ExportForm{}, "rendered"},
		"the student's, without its thoughts": {student, relabel.ExportForm{Reasoning: relabel.ReasoningDrop}, "rendered"},
	} {
		t.Run(name, func(t *testing.T) {
			c.form.Tokenizer = folder
			if got := spansOf(t, trajectory(c.whose), c.form)[1].IDs; got != c.want {
				t.Errorf("its ids are %q, not %s", got, c.want)
			}
		})
	}
}

func TestOnlyExecutedActionsFormATrunk(t *testing.T) {
	folder := shardtest.Student(t)
	tr := plainTrajectory() // one turn of the teacher, after which nothing follows
	if got := spansOf(t, tr, relabel.ExportForm{Tokenizer: folder})[1].Kind; got != "trunk" {
		t.Errorf("the teacher's own action is a %s", got)
	}
	other := had(call("execute_bash", `{"command": "make"}`))
	other.PolicyID = fixedID("another teacher")
	tr.Turns[0].Label = &other
	if got := spansOf(t, tr, relabel.ExportForm{Tokenizer: folder})[1].Kind; got != "leaf" {
		t.Errorf("another teacher's label, which was not executed, is a %s", got)
	}
}

// plainTrajectory has one turn of the teacher, and nothing that tokenizers stumble over.
func plainTrajectory() relabel.ExportTrajectory {
	tr := someTrajectory(1, 1, 1)
	tr.Task.ProblemStatement = "It fails."
	return tr
}
