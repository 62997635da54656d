package evaluation

import (
	"cmp"
	"context"
	"slices"

	"relabel"
)

// ScalingStore reads what scaling reports are made of.
type ScalingStore interface {
	Store
	ListIterations(ctx context.Context, run relabel.ID) ([]relabel.Iteration, error)
	ListEvaluations(ctx context.Context, benchmark relabel.ID, p relabel.Page) (evaluations []relabel.Iteration, next string, err error)
	ListTrainingChain(ctx context.Context, policy relabel.ID) ([]relabel.Policy, error)
}

// Scaling compares runs by the training of their students on one benchmark. nil: the one on which most
// of the runs have an evaluation; of several the one with the most evaluations, then the first one.
// CodeInvalid, on runs, for a run that is given twice or too many of them.
func Scaling(ctx context.Context, store ScalingStore, runs []relabel.Run, benchmark *relabel.ID) (relabel.ScalingReport, error) {
	s := scaling{store: store, chains: map[relabel.ID][]relabel.Policy{}, results: map[relabel.ID]relabel.Results{},
		report: relabel.ScalingReport{Runs: []relabel.ScalingSeries{}, Excluded: []relabel.ScalingExcluded{}, OtherBenchmarks: []relabel.ScalingBenchmark{}}}
	if err := checkRuns(runs); err != nil {
		return s.report, err
	}
	own := make([][]relabel.Iteration, len(runs))
	for i, run := range runs {
		all, err := store.ListIterations(ctx, run.ID)
		if err != nil {
			return s.report, err
		}
		own[i] = slices.DeleteFunc(all, func(it relabel.Iteration) bool { return it.Kind != relabel.Evaluate || it.BenchmarkID == nil })
		s.report.Runs = append(s.report.Runs, relabel.ScalingSeries{RunID: run.ID, Run: run.Name, Recipe: run.Recipe, Points: []relabel.ScalingPoint{}})
	}
	if err := s.choose(ctx, own, benchmark); err != nil || s.report.BenchmarkID == nil {
		return s.report, err
	}
	on, err := s.listOn(ctx, *s.report.BenchmarkID)
	if err != nil {
		return s.report, err
	}
	for i := range s.report.Runs {
		if err := s.add(ctx, &s.report.Runs[i], on); err != nil {
			return s.report, err
		}
	}
	return s.report, nil
}

func checkRuns(runs []relabel.Run) error {
	if len(runs) > relabel.MaxScalingRuns {
		return relabel.Errorf(relabel.CodeInvalid, "are %d: give at most %d", len(runs), relabel.MaxScalingRuns).On("runs")
	}
	for i, run := range runs {
		if slices.ContainsFunc(runs[:i], func(other relabel.Run) bool { return other.ID == run.ID }) {
			return relabel.Errorf(relabel.CodeInvalid, "has %s twice", run.Name).On("runs")
		}
	}
	return nil
}

// scaling is a report under construction.
type scaling struct {
	store   ScalingStore
	report  relabel.ScalingReport
	chains  map[relabel.ID][]relabel.Policy // by policy
	results map[relabel.ID]relabel.Results  // by iteration
}

// choose sets the benchmark, and counts evaluations on others.
func (s *scaling) choose(ctx context.Context, own [][]relabel.Iteration, benchmark *relabel.ID) error {
	type use struct {
		id                relabel.ID
		runs, evaluations int
	}
	var uses []use // in the order of the first evaluation
	for _, evaluations := range own {
		var seen []relabel.ID
		for _, it := range evaluations {
			i := slices.IndexFunc(uses, func(u use) bool { return u.id == *it.BenchmarkID })
			if i < 0 {
				i = len(uses)
				uses = append(uses, use{id: *it.BenchmarkID})
			}
			uses[i].evaluations++
			if !slices.Contains(seen, *it.BenchmarkID) {
				seen = append(seen, *it.BenchmarkID)
				uses[i].runs++
			}
		}
	}
	slices.SortStableFunc(uses, func(a, b use) int {
		return cmp.Or(cmp.Compare(b.runs, a.runs), cmp.Compare(b.evaluations, a.evaluations))
	})
	if benchmark == nil && len(uses) > 0 {
		benchmark = &uses[0].id
	}
	s.report.BenchmarkID = benchmark
	if benchmark != nil {
		b, err := s.store.FindBenchmark(ctx, *benchmark)
		if err != nil {
			return err
		}
		s.report.Benchmark = b.Name
	}
	for _, u := range uses {
		if u.id == *benchmark {
			continue
		}
		b, err := s.store.FindBenchmark(ctx, u.id)
		if err != nil {
			return err
		}
		s.report.OtherBenchmarks = append(s.report.OtherBenchmarks, relabel.ScalingBenchmark{BenchmarkID: u.id, Benchmark: b.Name, Evaluations: u.evaluations})
	}
	return nil
}

// listOn lists all evaluations on a benchmark, the oldest first.
func (s *scaling) listOn(ctx context.Context, benchmark relabel.ID) (all []relabel.Iteration, err error) {
	for after, more := "", true; more; more = after != "" {
		var page []relabel.Iteration
		if page, after, err = s.store.ListEvaluations(ctx, benchmark, relabel.Page{After: after, Limit: 500}); err != nil {
			return nil, err
		}
		all = append(all, page...)
	}
	slices.Reverse(all)
	return all, nil
}

// add adds the points of a series: the run's evaluations, then those of the ancestors of its students.
func (s *scaling) add(ctx context.Context, series *relabel.ScalingSeries, on []relabel.Iteration) error {
	evaluated, ancestors := map[relabel.ID]bool{}, map[relabel.ID]bool{}
	for _, it := range on {
		if it.RunID != series.RunID {
			continue
		}
		evaluated[it.StudentID] = true
		if err := s.place(ctx, series, it); err != nil {
			return err
		}
		chain, err := s.chain(ctx, it.StudentID)
		if err != nil {
			return err
		}
		if Training(chain).Effective == nil {
			continue
		}
		for _, p := range chain[1:] {
			ancestors[p.ID] = true
		}
	}
	for _, it := range on {
		if it.RunID == series.RunID || !ancestors[it.StudentID] || evaluated[it.StudentID] {
			continue
		}
		if err := s.place(ctx, series, it); err != nil {
			return err
		}
	}
	slices.SortStableFunc(series.Points, func(a, b relabel.ScalingPoint) int {
		return cmp.Or(cmp.Compare(a.Effective.Trajectories, b.Effective.Trajectories), cmp.Compare(a.Effective.States, b.Effective.States),
			a.Evaluation.CreatedAt.Compare(b.Evaluation.CreatedAt))
	})
	return nil
}

// place adds an evaluation to the points of a series, or to the excluded ones.
func (s *scaling) place(ctx context.Context, series *relabel.ScalingSeries, it relabel.Iteration) error {
	e, err := s.result(ctx, it)
	if err != nil {
		return err
	}
	chain, err := s.chain(ctx, it.StudentID)
	if err != nil {
		return err
	}
	training := Training(chain)
	reason := reasonOf(it, training, e)
	if reason == "" {
		series.Points = append(series.Points, relabel.ScalingPoint{Effective: *training.Effective, Evaluation: e})
		return nil
	}
	x := relabel.ScalingExcluded{RunID: it.RunID, Run: e.Run, IterationID: it.ID, Number: it.Number, StudentID: it.StudentID, Student: e.Student, Reason: reason}
	if reason == relabel.ScalingTrainingUnknown {
		x.Unknown = training.Unknown
	}
	if !slices.Contains(s.report.Excluded, x) {
		s.report.Excluded = append(s.report.Excluded, x)
	}
	return nil
}

// reasonOf says why an evaluation is not a point; "" if it is one.
func reasonOf(it relabel.Iteration, training relabel.Training, e relabel.Results) relabel.ScalingReason {
	switch {
	case it.State == relabel.IterationRunning:
		return relabel.ScalingRunning
	case it.State == relabel.IterationCancelled:
		return relabel.ScalingCancelled
	case training.Effective == nil:
		return relabel.ScalingTrainingUnknown
	case e.Resolved.Of == 0:
		return relabel.ScalingNotGraded
	}
	return ""
}

func (s *scaling) chain(ctx context.Context, policy relabel.ID) (chain []relabel.Policy, err error) {
	if s.chains[policy] == nil {
		s.chains[policy], err = s.store.ListTrainingChain(ctx, policy)
	}
	return s.chains[policy], err
}

func (s *scaling) result(ctx context.Context, it relabel.Iteration) (relabel.Results, error) {
	if e, known := s.results[it.ID]; known {
		return e, nil
	}
	all, err := OfEvaluations(ctx, s.store, []relabel.Iteration{it})
	if err != nil {
		return relabel.Results{}, err
	}
	s.results[it.ID] = all[0]
	return all[0], nil
}
