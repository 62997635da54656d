package evaluation

import (
	"context"
	"fmt"

	"relabel"
)

// Store reads what reports are made of.
type Store interface {
	relabel.EvaluationStore
	ListPassAtK(ctx context.Context, it relabel.Iteration) ([]relabel.PassAtK, error)
	FindBenchmark(ctx context.Context, id relabel.ID) (relabel.Benchmark, error)
	FindPolicy(ctx context.Context, id relabel.ID) (relabel.Policy, error)
}

// Report sums up the evaluations among a run's iterations, which are in order of creation.
func Report(ctx context.Context, s Store, run relabel.ID, iterations []relabel.Iteration) (relabel.EvaluationReport, error) {
	report := relabel.EvaluationReport{RunID: run, Evaluations: []relabel.Evaluation{}, Comparisons: []relabel.Comparison{}}
	last := map[relabel.ID]relabel.ID{} // the last evaluation on a benchmark
	tasks := map[relabel.ID][]relabel.TaskResults{}
	for _, it := range iterations {
		if it.Kind != relabel.Evaluate {
			continue
		}
		results, err := s.ListTaskResults(ctx, it.ID)
		if err != nil {
			return report, err
		}
		e, err := named(ctx, s, it, Of(it, results))
		if err != nil {
			return report, err
		}
		report.Evaluations = append(report.Evaluations, e)
		if before, ok := last[e.BenchmarkID]; ok {
			c := Compare(results, tasks[before])
			c.IterationID, c.WithID = it.ID, before
			report.Comparisons = append(report.Comparisons, c)
			delete(tasks, before)
		}
		last[e.BenchmarkID], tasks[it.ID] = it.ID, results
	}
	return report, nil
}

// named adds names and pass@k to an evaluation.
func named(ctx context.Context, s Store, it relabel.Iteration, e relabel.Evaluation) (relabel.Evaluation, error) {
	student, err := s.FindPolicy(ctx, e.StudentID)
	if err != nil {
		return e, err
	}
	e.Student = fmt.Sprintf("%s@%d", student.Name, student.Version)
	if it.BenchmarkID != nil {
		b, err := s.FindBenchmark(ctx, *it.BenchmarkID)
		if err != nil {
			return e, err
		}
		e.Benchmark = b.Name
	}
	e.PassAtK, err = s.ListPassAtK(ctx, it)
	return e, err
}

// CompareStored compares two evaluations. CodeInvalid, naming the field, unless both are evaluations
// of the same benchmark.
func CompareStored(ctx context.Context, s Store, a, b relabel.Iteration) (relabel.Comparison, error) {
	var c relabel.Comparison
	switch {
	case a.Kind != relabel.Evaluate || a.BenchmarkID == nil:
		return c, relabel.Errorf(relabel.CodeInvalid, "is not an evaluation: give an iteration of kind evaluate").On("id")
	case b.Kind != relabel.Evaluate || b.BenchmarkID == nil:
		return c, relabel.Errorf(relabel.CodeInvalid, "is not an evaluation: give an iteration of kind evaluate").On("query.with")
	case *a.BenchmarkID != *b.BenchmarkID:
		return c, relabel.Errorf(relabel.CodeInvalid, "is an evaluation on another benchmark: compare evaluations of the same tasks and limits").On("query.with")
	}
	results, err := s.ListTaskResults(ctx, a.ID)
	if err != nil {
		return c, err
	}
	with, err := s.ListTaskResults(ctx, b.ID)
	if err != nil {
		return c, err
	}
	c = Compare(results, with)
	c.IterationID, c.WithID = a.ID, b.ID
	return c, nil
}
