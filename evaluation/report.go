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
}

// Report sums up the evaluations and samples among a run's iterations, which are in order of creation.
// It compares only evaluations that are done.
func Report(ctx context.Context, s Store, run relabel.ID, iterations []relabel.Iteration) (relabel.EvaluationReport, error) {
	report := relabel.EvaluationReport{RunID: run, Evaluations: []relabel.Evaluation{}, Comparisons: []relabel.Comparison{}, Samples: []relabel.Results{}}
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
		e, err := onBenchmark(ctx, s, it, of)
		if err != nil {
			return report, err
		}
		report.Evaluations = append(report.Evaluations, e)
		if it.State != relabel.IterationDone {
			continue
		}
		if before, ok := last[e.BenchmarkID]; ok {
			c := Compare(results, tasks[before])
			c.IterationID, c.WithID, c.Changed = it.ID, before, nil
			report.Comparisons = append(report.Comparisons, c)
			delete(tasks, before)
		}
		last[e.BenchmarkID], tasks[it.ID] = it.ID, results
	}
	return report, nil
}

// OfEvaluations returns the results of evaluations.
func OfEvaluations(ctx context.Context, s Store, iterations []relabel.Iteration) ([]relabel.Evaluation, error) {
	all := make([]relabel.Evaluation, 0, len(iterations))
	for _, it := range iterations {
		_, of, err := resultsOf(ctx, s, it)
		if err != nil {
			return nil, err
		}
		e, err := onBenchmark(ctx, s, it, of)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
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
	if it.BenchmarkID != nil {
		trained, err := s.CountTrained(ctx, it.StudentID, *it.BenchmarkID)
		if err != nil {
			return nil, r, err
		}
		if trained.Tasks+trained.Deleted > 0 {
			r.Trained = &trained
		}
	}
	r.PassAtK, err = s.ListPassAtK(ctx, it)
	return tasks, r, err
}

// onBenchmark adds the benchmark of an evaluation to its results.
func onBenchmark(ctx context.Context, s Store, it relabel.Iteration, r relabel.Results) (relabel.Evaluation, error) {
	e := relabel.Evaluation{Results: r}
	if it.BenchmarkID == nil { // of a run that is being deleted
		return e, nil
	}
	b, err := s.FindBenchmark(ctx, *it.BenchmarkID)
	e.BenchmarkID, e.Benchmark = *it.BenchmarkID, b.Name
	return e, err
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
	results, of, err := compared(ctx, s, a)
	if err != nil {
		return c, err
	}
	with, withOf, err := compared(ctx, s, b)
	if err != nil {
		return c, err
	}
	c = Compare(results, with)
	c.IterationID, c.WithID, c.Evaluation, c.With = a.ID, b.ID, &of, &withOf
	return c, nil
}

// compared returns the results of an evaluation by task, and their sum.
func compared(ctx context.Context, s Store, it relabel.Iteration) (tasks []relabel.TaskResults, e relabel.Evaluation, err error) {
	tasks, of, err := resultsOf(ctx, s, it)
	if err != nil {
		return nil, e, err
	}
	e, err = onBenchmark(ctx, s, it, of)
	return tasks, e, err
}
