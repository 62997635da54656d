package server

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"relabel"
	"relabel/api"
	"relabel/evaluation"
)

func (s *site) addBenchmarks() {
	add(s, operation(http.MethodPost, "/v1/benchmarks", "benchmarks", "create-benchmark", "Create a benchmark",
		"Stores a named, fixed list of tasks with limits, which evaluations of any run roll out. Its tasks are neither drawn for collection nor exported, in any task set, "+
			"unless that is allowed (allow_benchmarks)."), s.createBenchmark)
	add(s, operation(http.MethodGet, "/v1/benchmarks", "benchmarks", "list-benchmarks", "List benchmarks", "Benchmarks, newest first."), s.listBenchmarks)
	add(s, operation(http.MethodGet, "/v1/benchmarks/{id}", "benchmarks", "show-benchmark", "Show a benchmark", "One benchmark with its tasks and the excluded ones."), s.showBenchmark)
	deletion := operation(http.MethodDelete, "/v1/benchmarks/{id}", "benchmarks", "delete-benchmark", "Delete a benchmark",
		"Deletes a benchmark, which then reserves no task, and returns it. 409 while an evaluation or a sample is on it. Existing exports do not change.")
	deletion.Errors = append(deletion.Errors, http.StatusConflict)
	add(s, deletion, s.deleteBenchmark)
	add(s, operation(http.MethodGet, "/v1/benchmarks/{id}/evaluations", "benchmarks", "list-evaluations", "List the evaluations on a benchmark",
		"The evaluations on a benchmark, of all runs, newest first, each with its checkpoint and its results as in a run's report."), s.listEvaluations)
}

func (s *site) createBenchmark(ctx context.Context, in *of[api.NewBenchmark]) (*of[api.BenchmarkView], error) {
	b := in.Body
	if err := checkBenchmarkName(b.Name); err != nil {
		return nil, err
	}
	set, err := s.findTaskset(ctx, b.Taskset)
	if err != nil {
		return nil, asField(err, "taskset")
	}
	if set, err = s.Store.FindTasksetAt(ctx, set.ID, b.TasksetRevision); err != nil {
		return nil, asField(err, "taskset_revision")
	}
	leave, err := s.bodies.beginDraw(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	all, err := s.Store.ListTaskNames(ctx, set.ID, set.Revision)
	if err != nil {
		return nil, err
	}
	all, unsound, err := withoutExcluded(b, all)
	if err != nil {
		return nil, err
	}
	source, chosen, err := s.benchmarkTasks(b, all)
	if err != nil {
		return nil, err
	}
	if len(chosen) == 0 {
		return nil, relabel.Errorf(relabel.CodeInvalid, "no task is left in the benchmark").On("instances")
	}
	tasks := slices.Collect(maps.Values(chosen))
	benchmark := relabel.Benchmark{ID: relabel.NewID(), Name: b.Name, TasksetID: set.ID, TasksetRevision: set.Revision, Source: source,
		Excluded: append(b.Excluded, unsound...), Limits: b.Limits.Over(set.Kind.DefaultLimits())}
	if err := set.Kind.CheckLimits(benchmark.Limits); err != nil {
		return nil, err
	}
	if err := s.Store.CreateBenchmark(ctx, benchmark, tasks); err != nil {
		return nil, err
	}
	return s.viewBenchmark(ctx, benchmark.ID)
}

// withoutExcluded returns the tasks that the task set does not exclude, and those of the request's selection
// that it excludes. It refuses a request that names one of these.
func withoutExcluded(b api.NewBenchmark, all []relabel.Task) (open []relabel.Task, excluded []relabel.ExcludedTask, err error) {
	own := map[string]bool{}
	for _, e := range b.Excluded {
		own[e.InstanceID] = true
	}
	for _, t := range all {
		switch {
		case t.Excluded == "" || own[t.InstanceID]:
			open = append(open, t)
		case slices.Contains(b.Instances, t.InstanceID):
			return nil, nil, relabel.Errorf(relabel.CodeInvalid, "%.100q is excluded from the task set: %s", t.InstanceID, t.Excluded).On(fmt.Sprintf("instances[%d]", slices.Index(b.Instances, t.InstanceID)))
		case len(b.Instances) == 0 && (!b.HeldOut || t.HeldOut):
			excluded = append(excluded, relabel.ExcludedTask{InstanceID: t.InstanceID, Reason: t.Excluded})
		}
	}
	return open, excluded, nil
}

// benchmarkTasks returns the tasks that a request selects in exactly one way, by instance id, without the
// excluded ones. A draw is among the tasks that are not excluded.
func (s *site) benchmarkTasks(b api.NewBenchmark, all []relabel.Task) (source relabel.BenchmarkSource, chosen map[string]relabel.ID, err error) {
	if err := oneSelection(b); err != nil {
		return source, nil, err
	}
	byName := map[string]relabel.ID{}
	for _, t := range all {
		if !b.HeldOut || t.HeldOut {
			byName[t.InstanceID] = t.ID
		}
	}
	if len(b.Instances) == 0 {
		err = exclude(byName, b.Excluded)
	}
	if err != nil {
		return source, nil, err
	}
	names := slices.Sorted(maps.Keys(byName))
	switch {
	case b.HeldOut:
		source.Kind = relabel.FromHeldOut
	case b.All:
		source.Kind = relabel.FromAll
	case b.Tasks > len(names):
		return source, nil, relabel.Errorf(relabel.CodeInvalid, "is %d; there are %d tasks to draw from", b.Tasks, len(names)).On("tasks")
	case b.Tasks > 0:
		source = relabel.BenchmarkSource{Kind: relabel.FromSeed, Seed: new(int64)}
		if b.Seed != nil {
			source.Seed = b.Seed
		}
		names = s.DrawHeldOut(*source.Seed, names, b.Tasks)
	default:
		source.Kind, names = relabel.FromInstances, b.Instances
	}
	chosen = make(map[string]relabel.ID, len(names))
	for i, name := range names {
		id, known := byName[name]
		if !known {
			return source, nil, relabel.Errorf(relabel.CodeInvalid, "%.100q is not in the taskset", name).On(fmt.Sprintf("instances[%d]", i))
		}
		chosen[name] = id
	}
	if len(b.Instances) > 0 {
		err = exclude(chosen, b.Excluded)
	}
	return source, chosen, err
}

// oneSelection refuses a request that selects tasks in several ways or in none.
func oneSelection(b api.NewBenchmark) error {
	ways := 0
	for _, is := range []bool{len(b.Instances) > 0, b.HeldOut, b.All, b.Tasks > 0} {
		if is {
			ways++
		}
	}
	switch {
	case ways != 1:
		return relabel.Errorf(relabel.CodeInvalid, "select the tasks in exactly one way: instances, held_out, all, or a number of tasks to draw").On("instances")
	case b.Seed != nil && b.Tasks == 0:
		return relabel.Errorf(relabel.CodeInvalid, "is for a draw: give the number of tasks too").On("seed")
	}
	return nil
}

// exclude removes the excluded tasks from those that a selection has or is drawn from.
func exclude(tasks map[string]relabel.ID, excluded []relabel.ExcludedTask) error {
	for i, e := range excluded {
		if _, is := tasks[e.InstanceID]; !is {
			return relabel.Errorf(relabel.CodeInvalid, "%.100q is not among the selected tasks, or is excluded twice", e.InstanceID).On(fmt.Sprintf("excluded[%d].instance_id", i))
		}
		delete(tasks, e.InstanceID)
	}
	return nil
}

func (s *site) listBenchmarks(ctx context.Context, in *struct {
	api.PageQuery
	api.BenchmarkQuery
}) (*of[api.Page[relabel.Benchmark]], error) {
	return pageOf(s.Store.ListBenchmarks(ctx, relabel.BenchmarkFilter{Unnamed: in.Unnamed}, page(in.PageQuery)))
}

func (s *site) showBenchmark(ctx context.Context, in *IDPath) (*of[api.BenchmarkView], error) {
	return s.viewBenchmark(ctx, in.ID)
}

func (s *site) deleteBenchmark(ctx context.Context, in *IDPath) (*of[relabel.Benchmark], error) {
	b, err := s.Store.FindBenchmark(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return one(b, s.Store.DeleteBenchmark(ctx, in.ID))
}

func (s *site) viewBenchmark(ctx context.Context, id relabel.ID) (*of[api.BenchmarkView], error) {
	b, err := s.Store.FindBenchmark(ctx, id)
	if err != nil {
		return nil, err
	}
	tasks, err := s.Store.ListBenchmarkTasks(ctx, id)
	view := api.BenchmarkView{Benchmark: b, Instances: make([]string, len(tasks))}
	for i, t := range tasks {
		view.Instances[i] = t.InstanceID
	}
	if err == nil && b.Name != "" {
		view.Reserves = new(relabel.Reservation)
		*view.Reserves, err = s.Store.CountReserved(ctx, id)
	}
	return one(view, err)
}

func (s *site) listEvaluations(ctx context.Context, in *struct {
	IDPath
	api.PageQuery
}) (*of[api.Page[relabel.Results]], error) {
	if _, err := s.Store.FindBenchmark(ctx, in.ID); err != nil {
		return nil, err
	}
	its, next, err := s.Store.ListEvaluations(ctx, in.ID, page(in.PageQuery))
	if err != nil {
		return nil, err
	}
	all, err := evaluation.OfEvaluations(ctx, s.Store, its)
	return pageOf(all, next, err)
}

// findBenchmark finds a benchmark by its id or its name.
func (s *site) findBenchmark(ctx context.Context, word string) (relabel.Benchmark, error) {
	if id, err := uuid.Parse(word); err == nil {
		return s.Store.FindBenchmark(ctx, id)
	}
	return s.Store.FindBenchmarkByName(ctx, word)
}

func (s *site) benchmarkID(ctx context.Context, name string) (relabel.ID, error) {
	b, err := s.findBenchmark(ctx, name)
	return b.ID, err
}

// checkAllowed refuses names in allow_benchmarks that no benchmark and no exclusion list has: a mistyped one would
// allow nothing.
func (s *site) checkAllowed(ctx context.Context, names []string) error {
	for i, name := range names {
		_, err := s.Store.FindBenchmarkByName(ctx, name)
		if relabel.CodeOf(err) == relabel.CodeNotFound {
			if _, listErr := s.Store.FindExclusionByName(ctx, name); relabel.CodeOf(listErr) != relabel.CodeNotFound {
				err = listErr
			}
		}
		if err != nil {
			return asField(err, fmt.Sprintf("allow_benchmarks[%d]", i))
		}
	}
	return nil
}
