package web

import (
	"context"
	"fmt"
	"net/http"

	"relabel"
	"relabel/evaluation"
	"relabel/safetext"
)

const (
	benchmarksShown  = 50
	evaluationsShown = 50
	// benchmarkTasksShown is the number of tasks that the page of a benchmark names.
	benchmarkTasksShown = 1000
)

func (v *viewer) benchmarkRoutes() routes {
	to := routes{"GET /benchmarks": v.listBenchmarks, "GET /benchmarks/{benchmark}": v.showNamed}
	v.addOperation(to, "/benchmarks/new", v.createBenchmark)
	v.addOperation(to, "/benchmarks/{benchmark}/delete", on(v.benchmarkOf, v.deleteBenchmark))
	return to
}

// benchmarkOf finds the benchmark in an address, by id or name.
func (v *viewer) benchmarkOf(r *http.Request) (relabel.Benchmark, error) {
	return named(r.Context(), r.PathValue("benchmark"), v.Store.FindBenchmark, v.Store.FindBenchmarkByName)
}

// showNamed shows a benchmark, or leads to the exclusion list of that name: what reserves or allows tasks is named alike.
func (v *viewer) showNamed(w http.ResponseWriter, r *http.Request) error {
	b, err := v.benchmarkOf(r)
	if relabel.CodeOf(err) == relabel.CodeNotFound {
		if list, listErr := v.Store.FindExclusionByName(r.Context(), r.PathValue("benchmark")); listErr == nil {
			http.Redirect(w, r, "/exclusions/"+list.ID.String(), http.StatusSeeOther)
			return nil
		}
	}
	if err != nil {
		return err
	}
	return v.showBenchmark(w, r, b)
}

// benchmarkNames are the names of the newest benchmarks that have one.
func (v *viewer) benchmarkNames(ctx context.Context, most int) (names []string, err error) {
	list, _, err := v.Store.ListBenchmarks(ctx, relabel.BenchmarkFilter{}, relabel.Page{Limit: most})
	for _, b := range list {
		names = append(names, b.Name)
	}
	return names, err
}

// benchmarkRow is a benchmark with the name of its task set.
type benchmarkRow struct {
	relabel.Benchmark
	Taskset string
}

func (v *viewer) listBenchmarks(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	unnamed := q.Get("unnamed")
	if unnamed != "" && unnamed != "true" && unnamed != "false" {
		return relabel.Errorf(relabel.CodeInvalid, "%.100q is neither true nor false", safetext.Plain(unnamed)).On("unnamed")
	}
	list, next, err := v.Store.ListBenchmarks(r.Context(), relabel.BenchmarkFilter{Unnamed: unnamed == "true"}, relabel.Page{After: q.Get("after"), Limit: benchmarksShown})
	if err != nil {
		return err
	}
	l, name := load{ctx: r.Context()}, remember(v.tasksetName)
	rows := make([]benchmarkRow, len(list))
	for i, b := range list {
		rows[i].Benchmark = b
		read(&l, &rows[i].Taskset, name, b.TasksetID)
	}
	if l.err != nil {
		return l.err
	}
	var operations []operationLink
	if mayChange(r) {
		operations = []operationLink{{"Create a benchmark…", "/benchmarks/new"}}
	}
	nextLink, first := pageLinks(r, next)
	return v.render(w, r, page{Template: "benchmarks", Title: "Benchmarks", Section: "Benchmarks",
		View: map[string]any{"Benchmarks": rows, "Unnamed": unnamed == "true", "Next": nextLink, "First": first, "Operations": operations}})
}

func (v *viewer) tasksetName(ctx context.Context, id relabel.ID) (string, error) {
	set, err := v.Store.FindTaskset(ctx, id)
	return set.Name, err
}

// benchmarkPage is the page of a benchmark.
type benchmarkPage struct {
	relabel.Benchmark
	Taskset     string
	List        evaluationList
	Tasks       []benchmarkTask // the first ones
	Next, First string          // of the evaluations
	Reserves    relabel.Reservation
	Operations  []operationLink
}

type benchmarkTask struct{ InstanceID, Link string }

func (v *viewer) showBenchmark(w http.ResponseWriter, r *http.Request, b relabel.Benchmark) error {
	view := benchmarkPage{Benchmark: b}
	its, next, err := v.Store.ListEvaluations(r.Context(), b.ID, relabel.Page{After: r.URL.Query().Get("after"), Limit: evaluationsShown})
	if err != nil {
		return err
	}
	evaluations, err := evaluation.OfEvaluations(r.Context(), v.Store, its)
	if err != nil {
		return err
	}
	view.List = evaluationList{Evaluations: evaluations, OfRuns: true}
	view.List.propose()
	tasks, err := v.Store.ListBenchmarkTasks(r.Context(), b.ID)
	if err != nil {
		return err
	}
	for _, t := range tasks[:min(len(tasks), benchmarkTasksShown)] {
		view.Tasks = append(view.Tasks, benchmarkTask{t.InstanceID, taskPath(t.TasksetID, t.ID, t.InstanceID)})
	}
	if view.Taskset, err = v.tasksetName(r.Context(), b.TasksetID); err != nil {
		return err
	}
	if view.Reserves, err = v.Store.CountReserved(r.Context(), b.ID); err != nil {
		return err
	}
	if mayChange(r) && b.Evaluations+b.Samples == 0 {
		view.Operations = []operationLink{{"Delete…", "/benchmarks/" + b.ID.String() + "/delete"}}
	}
	view.Next, view.First = pageLinks(r, next)
	return v.render(w, r, page{Template: "benchmark", Title: "Benchmark " + safetext.Plain(benchmarkWord(b.Name, b.ID)), Section: "Benchmarks",
		Crumbs: []crumb{{"Benchmarks", "/benchmarks"}}, View: view})
}

// benchmarkWord is a benchmark's name, or the end of its id if it has none.
func benchmarkWord(name string, id relabel.ID) string {
	if name == "" {
		return "without a name, …" + short(id)
	}
	return name
}

// sourceWord says how the tasks of a benchmark were chosen.
func sourceWord(s relabel.BenchmarkSource) string {
	switch s.Kind {
	case relabel.FromInstances:
		return "by their instance ids"
	case relabel.FromHeldOut:
		return "the held-out tasks"
	case relabel.FromAll:
		return "all tasks of the task set"
	case relabel.FromSeed:
		return fmt.Sprintf("drawn from all tasks with seed %d", *s.Seed)
	case relabel.FromEvaluation:
		return "what an evaluation or a sample drew"
	}
	return string(s.Kind)
}
