package evaluation

import (
	"context"

	"relabel"
)

// Store reads what reports are made of.
type Store interface {
	relabel.EvaluationStore
	ListPassAtK(ctx context.Context, it relabel.Iteration) ([]relabel.PassAtK, error)
	FindBenchmark(ctx context.Context, id relabel.ID) (relabel.Benchmark, error)
	FindPolicy(ctx context.Context, id relabel.ID) (relabel.Policy, error)
	FindRun(ctx context.Context, id relabel.ID) (relabel.Run, error)
	excludedStore
}

// excludedStore reads which tasks of a task set are excluded.
type excludedStore interface {
	FindTasksetAt(ctx context.Context, id relabel.ID, revision int) (relabel.Taskset, error)
	ListExcludedTasks(ctx context.Context, taskset relabel.ID, revision, limit int) ([]relabel.ExcludedTask, error)
}

// Report sums up the evaluations and samples among a run's iterations, which are in order of creation.
// It compares only evaluations that are done.
func Report(ctx context.Context, s Store, run relabel.ID, iterations []relabel.Iteration) (relabel.EvaluationReport, error) {
	report := relabel.EvaluationReport{RunID: run, Evaluations: []relabel.Results{}, Comparisons: []relabel.Comparison{}, Samples: []relabel.Results{}}
	last := map[relabel.ID]relabel.ID{} // the last done evaluation on a benchmark
	tasks := map[relabel.ID][]relabel.TaskResults{}
	for _, it := range iterations {
		if it.Kind.Labelled() {
			continue
		}
		results, of, err := resultsOf(ctx, s, it)
		if err != nil {
			return report, err
		}
		if it.Kind != relabel.Evaluate {
			report.Samples = append(report.Samples, of)
			continue
		}
		report.Evaluations = append(report.Evaluations, of)
		if it.State != relabel.IterationDone {
			continue
		}
		if before, ok := last[of.BenchmarkID]; ok {
			c := Compare(results, tasks[before])
			c.IterationID, c.WithID, c.Changed = it.ID, before, nil
			report.Comparisons = append(report.Comparisons, c)
			delete(tasks, before)
		}
		last[of.BenchmarkID], tasks[it.ID] = it.ID, results
	}
	return report, nil
}

// OfEvaluations returns the results of evaluations.
func OfEvaluations(ctx context.Context, s Store, iterations []relabel.Iteration) ([]relabel.Results, error) {
	all := make([]relabel.Results, 0, len(iterations))
	for _, it := range iterations {
		_, of, err := resultsOf(ctx, s, it)
		if err != nil {
			return nil, err
		}
		all = append(all, of)
	}
	return all, nil
}

// resultsOf returns the results of an iteration by task, and their sum with names and pass@k.
func resultsOf(ctx context.Context, s Store, it relabel.Iteration) (tasks []relabel.TaskResults, r relabel.Results, err error) {
	if tasks, err = s.ListTaskResults(ctx, it.ID); err != nil {
		return nil, r, err
	}
	r = Of(it, tasks)
	run, err := s.FindRun(ctx, it.RunID)
	if err != nil {
		return nil, r, err
	}
	student, err := s.FindPolicy(ctx, it.StudentID)
	if err != nil {
		return nil, r, err
	}
	r.Run, r.Student = run.Name, nameOf(student)
	if r.Hinted > 0 && run.HintsFrom != nil {
		r.HintsFrom = run.HintsFrom.Run
	}
	if it.BenchmarkID != nil { // else it is a sample for training, or of a run that is being deleted
		if err := addBenchmark(ctx, s, *it.BenchmarkID, &r); err != nil {
			return nil, r, err
		}
	}
	if r.Benchmark == "" {
		if r.ExcludedTasks, r.Excluded, err = excludedOf(ctx, s, run); err != nil {
			return nil, r, err
		}
	}
	r.PassAtK, err = s.ListPassAtK(ctx, it)
	return tasks, r, err
}

// excludedOf counts the excluded tasks of a run's task set, and returns the first of them.
func excludedOf(ctx context.Context, s excludedStore, run relabel.Run) (n int, named []relabel.ExcludedTask, err error) {
	set, err := s.FindTasksetAt(ctx, run.TasksetID, run.TasksetRevision)
	if err != nil || set.Excluded == 0 {
		return 0, nil, err
	}
	named, err = s.ListExcludedTasks(ctx, run.TasksetID, run.TasksetRevision, relabel.MostExcludedNamed)
	return set.Excluded, named, err
}

// excludedFrom is excludedOf for the tasks that a benchmark does not have.
func excludedFrom(b relabel.Benchmark) (n int, named []relabel.ExcludedTask) {
	return len(b.Excluded), b.Excluded[:min(len(b.Excluded), relabel.MostExcludedNamed)]
}

// addBenchmark adds the benchmark to results, and how many of its tasks trained the student.
func addBenchmark(ctx context.Context, s Store, benchmark relabel.ID, r *relabel.Results) error {
	b, err := s.FindBenchmark(ctx, benchmark)
	if err != nil {
		return err
	}
	r.BenchmarkID, r.Benchmark = b.ID, b.Name
	r.ExcludedTasks, r.Excluded = excludedFrom(b)
	trained, err := s.CountTrained(ctx, r.StudentID, b.ID)
	if trained.Tasks+trained.Deleted > 0 {
		r.Trained = &trained
	}
	return err
}

// CompareStored compares two evaluations. CodeInvalid, naming the field, unless they are two evaluations
// on the same benchmark.
func CompareStored(ctx context.Context, s Store, a, b relabel.Iteration) (relabel.Comparison, error) {
	var c relabel.Comparison
	switch {
	case a.Kind != relabel.Evaluate || a.BenchmarkID == nil:
		return c, relabel.Errorf(relabel.CodeInvalid, "is not an evaluation: give an iteration of kind evaluate").On("id")
	case b.Kind != relabel.Evaluate || b.BenchmarkID == nil:
		return c, relabel.Errorf(relabel.CodeInvalid, "is not an evaluation: give an iteration of kind evaluate").On("query.with")
	case a.ID == b.ID:
		return c, relabel.Errorf(relabel.CodeInvalid, "is the same evaluation: give another one on its benchmark").On("query.with")
	case *a.BenchmarkID != *b.BenchmarkID:
		return c, relabel.Errorf(relabel.CodeInvalid, "is an evaluation on another benchmark: compare evaluations of the same tasks and limits").On("query.with")
	}
	results, of, err := resultsOf(ctx, s, a)
	if err != nil {
		return c, err
	}
	with, withOf, err := resultsOf(ctx, s, b)
	if err != nil {
		return c, err
	}
	c = Compare(results, with)
	c.IterationID, c.WithID, c.Evaluation, c.With = a.ID, b.ID, &of, &withOf
	return c, nil
}
