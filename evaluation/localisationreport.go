package evaluation

import (
	"context"

	"relabel"
)

// LocalisationStore reads what reports of localisation are made of.
type LocalisationStore interface {
	relabel.LocalisationStore
	ListIterations(ctx context.Context, run relabel.ID) ([]relabel.Iteration, error)
	FindIteration(ctx context.Context, id relabel.ID) (relabel.Iteration, relabel.Progress, error)
	FindBenchmark(ctx context.Context, id relabel.ID) (relabel.Benchmark, error)
	FindPolicy(ctx context.Context, id relabel.ID) (relabel.Policy, error)
	FindRun(ctx context.Context, id relabel.ID) (relabel.Run, error)
	excludedStore
}

// Localisation reports how a run's iterations localise issues. Each that is done is compared with another
// iteration, of any run; nil: with the one before it of the same kind and on the same benchmark.
// CodeInvalid, on query.with, for an iteration that is not done or has no such tasks.
func Localisation(ctx context.Context, store LocalisationStore, run relabel.ID, with *relabel.ID) (relabel.LocalisationReport, error) {
	report := relabel.LocalisationReport{RunID: run, Iterations: []relabel.IterationLocalisation{}, Comparisons: []relabel.LocalisationComparison{}}
	iterations, err := store.ListIterations(ctx, run)
	if err != nil {
		return report, err
	}
	others := comparedLocalised{last: map[measured]*localised{}}
	if with != nil {
		if others.asked, err = findLocalised(ctx, store, *with); err != nil {
			return report, err
		}
	}
	for _, it := range iterations {
		l, err := readLocalised(ctx, store, it)
		if err != nil {
			return report, err
		}
		if len(l.tasks)+l.open+l.ungraded == 0 {
			continue
		}
		of, err := iterationLocalisation(ctx, store, l)
		if err != nil {
			return report, err
		}
		report.Iterations = append(report.Iterations, of)
		if c := others.compare(l); c.Tasks > 0 {
			report.Comparisons = append(report.Comparisons, c)
		}
	}
	return report, nil
}

// findLocalised reads the iteration that others are compared with.
func findLocalised(ctx context.Context, store LocalisationStore, id relabel.ID) (*localised, error) {
	it, _, err := store.FindIteration(ctx, id)
	if err != nil {
		return nil, err
	}
	if it.State != relabel.IterationDone {
		return nil, relabel.Errorf(relabel.CodeInvalid, "is not done: give an iteration that is").On("query.with")
	}
	l, err := readLocalised(ctx, store, it)
	if err == nil && len(l.tasks) == 0 {
		err = relabel.Errorf(relabel.CodeInvalid, "has no graded tasks to localise issues").On("query.with")
	}
	return l, err
}

func readLocalised(ctx context.Context, store LocalisationStore, it relabel.Iteration) (*localised, error) {
	l := &localised{iteration: it, at: map[relabel.ID]*localisedTask{}}
	return l, store.EachLocalisation(ctx, it.ID, l.add)
}

// iterationLocalisation has the figures of an iteration with its names.
func iterationLocalisation(ctx context.Context, store LocalisationStore, l *localised) (relabel.IterationLocalisation, error) {
	it := l.iteration
	of := relabel.IterationLocalisation{IterationID: it.ID, Kind: it.Kind, Number: it.Number, State: it.State, BenchmarkID: it.BenchmarkID, StudentID: it.StudentID,
		Ungraded: l.ungraded, Open: l.open, LocalisationFigures: figuresOf(l.tasks), Languages: byLanguage(l.tasks)}
	student, err := store.FindPolicy(ctx, it.StudentID)
	if err != nil {
		return of, err
	}
	of.Student = nameOf(student)
	if it.BenchmarkID != nil {
		b, err := store.FindBenchmark(ctx, *it.BenchmarkID)
		if err != nil {
			return of, err
		}
		of.Benchmark = b.Name
		of.ExcludedTasks, of.Excluded = excludedFrom(b)
	}
	if of.Benchmark != "" {
		return of, nil
	}
	run, err := store.FindRun(ctx, it.RunID)
	if err == nil {
		of.ExcludedTasks, of.Excluded, err = excludedOf(ctx, store, run)
	}
	return of, err
}

// comparedLocalised are the iterations that later ones are compared with.
type comparedLocalised struct {
	asked *localised              // instead of the others
	last  map[measured]*localised // the last done ones
}

// measured is what iterations have in common that are compared without being asked for.
type measured struct {
	kind      relabel.IterationKind
	benchmark relabel.ID // zero: the run's tasks
}

// compare compares an iteration if it is done; without tasks otherwise, or if there is nothing to compare with.
func (c *comparedLocalised) compare(l *localised) (comparison relabel.LocalisationComparison) {
	if l.iteration.State != relabel.IterationDone {
		return comparison
	}
	key := measured{kind: l.iteration.Kind}
	if l.iteration.BenchmarkID != nil {
		key.benchmark = *l.iteration.BenchmarkID
	}
	with := c.asked
	if with == nil {
		with = c.last[key]
		c.last[key] = l
	}
	if with == nil || with.iteration.ID == l.iteration.ID {
		return comparison
	}
	comparison = l.compared(with)
	comparison.IterationID, comparison.WithID = l.iteration.ID, with.iteration.ID
	return comparison
}
