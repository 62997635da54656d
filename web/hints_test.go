package web_test

import (
	"html"
	"strings"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

func TestPagesShowWhereHintsComeFrom(t *testing.T) {
	t.Parallel()
	s := start(t)
	finder := storetest.SeedLocalise(t, s.store, 1)
	storetest.Localise(t, s.store, storetest.Claim(t, s.store, finder.Trajectories[0].ID, "w"), 1, "a.py::<i>f</i>")
	d := storetest.SeedWith(t, s.store, 2, func(d *storetest.Seeded) {
		d.Run.Prompts.First = "{problem_statement}{hints?}\n{hints_text}{/hints?}"
		d.Run.HintsFrom = &relabel.HintSource{RunID: finder.Run.ID, Run: "finder", IterationID: finder.Iteration.ID, Evaluation: 3, Top: 5}
	})
	s.run, s.iteration = d.Run, d.Iteration
	p := relabel.PlannedIteration{Iteration: relabel.Iteration{ID: relabel.NewID(), RunID: d.Run.ID, Number: 1, Kind: relabel.Evaluate, StudentID: d.Student.ID}}
	for _, task := range d.Tasks {
		p.Trajectories = append(p.Trajectories, relabel.Trajectory{ID: relabel.NewID(), TaskID: task.ID, Executors: "ssss"})
	}
	s.must(s.store.CreateIteration(t.Context(), p))
	storetest.Finish(t, s.store, storetest.Claim(t, s.store, p.Trajectories[0].ID, "w"), 1, true)

	run := "/runs/" + d.Run.ID.String()
	contains(t, html.UnescapeString(s.get(200, run)), "first 5 of evaluate 3 of finder: 1 task of its task set, from 1 answers to 1 instances")
	contains(t, html.UnescapeString(s.get(200, run+"/report")), "1 of 2 tasks have hints, located by finder")
	contains(t, s.get(200, "/runs/new"), `name="hints_from"`, `name="hints_evaluation"`, `name="hints_top"`)
	contains(t, s.get(200, "/trajectories/"+p.Trajectories[0].ID.String()), "<code>a.py::&lt;i&gt;f&lt;/i&gt;</code>")
	if page := s.get(200, "/trajectories/"+p.Trajectories[1].ID.String()); strings.Contains(page, "Places that another run located") {
		t.Error("a task without hints shows some")
	}
	contains(t, s.get(200, "/v1/trajectories/"+p.Trajectories[0].ID.String()+"/states/1"), "the most probable one first:", "1. a.py::")
	contains(t, s.get(200, "/v1"+run+"/report"), `"hinted":1,"hints_from":"finder"`)
}
