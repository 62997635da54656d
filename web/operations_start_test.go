package web_test

import (
	"html"
	"strings"
	"testing"

	"relabel"
)

func TestAnEvaluationIsStartedOnHeldOutNamedOrRepeatedTasks(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.begin("drawn", "T")
	of := s.evaluate()
	path := "/runs/" + s.run.ID.String() + "/start"
	ask := func(query string) string {
		return html.UnescapeString(s.get(200, path+"?part=operation&kind=evaluate"+query))
	}
	contains(t, ask(""), `"kind":"evaluate","held_out":true}`, "Evaluate or sample on the held-out tasks", "Queues 0 trajectories")
	contains(t, ask("&instances=a%0D%0Ab&tasks=9"), `"kind":"evaluate","instances":["a","b"]}`, "Queues 2 trajectories")
	contains(t, ask("&again="+of.IterationID.String()), `"kind":"evaluate","again":"`+of.IterationID.String()+`"}`, "Queues 1 trajectories")
	s.get(400, path+"?kind=evaluate&again=x")
	s.get(400, path+"?kind=evaluate&again="+relabel.NewID().String())
	page := html.UnescapeString(s.get(200, "/iterations/"+of.IterationID.String()))
	contains(t, page, "1 task, 1 rollout each", "<code>"+of.InstanceID+"</code>", "/start?again="+of.IterationID.String()+"&kind=evaluate")
	contains(t, html.UnescapeString(s.get(200, path+"?part=operation")), `"student":"drawn-student@1"}`)
}

// A paper preset gives its runs a number of tasks per round and of rollouts per task.
func TestThePageOfAnIterationCountsWhatTheServerQueues(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.begin("drawn", "T", "T", "T", "T")
	s.must(s.store.CreateBenchmark(t.Context(), relabel.Benchmark{Name: "reserving", TasksetID: s.run.TasksetID,
		Source: relabel.BenchmarkSource{Kind: relabel.FromInstances}, Limits: relabel.PaperLimits}, s.taskIDs(1)))
	ask := func(query string) string {
		return html.UnescapeString(s.get(200, "/runs/"+s.run.ID.String()+"/start?part=operation"+query))
	}
	contains(t, ask(""), "Queues 3 trajectories", "Does not draw from 1 tasks that benchmarks or exclusion lists reserve")
	contains(t, ask("&allow_benchmarks=reserving"), "Queues 4 trajectories")
	s.run.ID, s.run.Name, s.run.TasksPerRound, s.run.Generations = relabel.NewID(), "paper", 2, 4
	s.must(s.store.CreateRun(t.Context(), s.run))
	contains(t, ask("&student=drawn-student"), "Queues 8 trajectories")
	contains(t, ask("&student=drawn-student&kind=sample&tasks=1"), "Queues 4 trajectories")
	s.iterate(`{"student":"drawn-student"}`, "........")
	contains(t, ask("&kind=evaluate&benchmark=reserving"), "Queues 1 trajectories")
	contains(t, ask("&kind=sample&benchmark=reserving"), "Queues 1 trajectories", `"kind":"sample","benchmark":"reserving"}`)
	contains(t, ask("&kind=sample&held_out=true"), "Queues 0 trajectories", `"kind":"sample","held_out":true}`)
	if page := ask("&kind=sample&held_out=true&tasks=2&allow_benchmarks=reserving"); strings.Contains(page, `"allow_benchmarks"`) || !strings.Contains(page, `"tasks":2`) {
		t.Error("it allows benchmarks for a sample on held-out tasks, or does not bound it")
	}
}

// TestAnIterationsFormHasOnlyWhatItsKindAndRecipeTake compares the fields of forms.
func TestAnIterationsFormHasOnlyWhatItsKindAndRecipeTake(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.begin("drawn", "T")
	fields := []string{"beta", "rho.kind", "label_rule", "verify", "allow_benchmarks"}
	for _, c := range []struct {
		recipe relabel.Recipe
		kind   relabel.IterationKind
		want   string
	}{
		{relabel.DAgger, relabel.Collect, "beta label_rule verify allow_benchmarks"},
		{relabel.DAgger, relabel.Sample, "verify allow_benchmarks"},
		{relabel.DAgger, relabel.Evaluate, ""},
		{relabel.AggreVaTe, relabel.Collect, "rho.kind label_rule verify allow_benchmarks"},
		{relabel.AggreVaTe, relabel.Evaluate, ""},
		{relabel.SFT, relabel.Collect, "verify allow_benchmarks"},
		{relabel.OPD, relabel.Sample, "verify allow_benchmarks"},
	} {
		run := s.run
		run.ID, run.Name, run.Recipe, run.Beta, run.Rho = relabel.NewID(), string(c.recipe+" ")+string(c.kind), c.recipe, nil, nil
		switch c.recipe {
		case relabel.DAgger:
			run.Beta = &relabel.PaperBeta
		case relabel.AggreVaTe:
			run.Rho = &relabel.PaperRho
		}
		s.must(s.store.CreateRun(t.Context(), run))
		page := s.get(200, "/runs/"+run.ID.String()+"/start?part=operation&kind="+string(c.kind))
		var shown []string
		for _, field := range fields {
			if strings.Contains(page, `name="`+field+`"`) {
				shown = append(shown, field)
			}
		}
		if got := strings.Join(shown, " "); got != c.want {
			t.Errorf("%s, %s: the form has %q, not %q", c.recipe, c.kind, got, c.want)
		}
	}
}

// taskIDs are the first n tasks of the run's task set.
func (s *site) taskIDs(n int) (ids []relabel.ID) {
	s.t.Helper()
	tasks, err := s.store.ListTaskNames(s.t.Context(), s.run.TasksetID, 0)
	s.must(err)
	for _, task := range tasks[:n] {
		ids = append(ids, task.ID)
	}
	return ids
}
