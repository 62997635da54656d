package evaluation_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/evaluation"
	"relabel/stats"
)

// localisations is a store of iterations with their rollouts.
type localisations struct {
	evaluation.LocalisationStore
	iterations []relabel.Iteration
	rollouts   map[relabel.ID][]relabel.LocalisationRollout
	excluded   []relabel.ExcludedTask // of the task set of each run
}

func (s *localisations) FindRun(_ context.Context, id relabel.ID) (relabel.Run, error) {
	return relabel.Run{ID: id, TasksetRevision: 2}, nil
}

func (s *localisations) FindTasksetAt(_ context.Context, _ relabel.ID, revision int) (relabel.Taskset, error) {
	return relabel.Taskset{Revision: revision, Excluded: len(s.excluded)}, nil
}

func (s *localisations) ListExcludedTasks(context.Context, relabel.ID, int, int) ([]relabel.ExcludedTask, error) {
	return s.excluded, nil
}

func (s *localisations) ListIterations(_ context.Context, run relabel.ID) (of []relabel.Iteration, _ error) {
	for _, it := range s.iterations {
		if it.RunID == run {
			of = append(of, it)
		}
	}
	return of, nil
}

func (s *localisations) FindIteration(_ context.Context, id relabel.ID) (relabel.Iteration, relabel.Progress, error) {
	i := slices.IndexFunc(s.iterations, func(it relabel.Iteration) bool { return it.ID == id })
	if i < 0 {
		return relabel.Iteration{}, relabel.Progress{}, relabel.Errorf(relabel.CodeNotFound, "no iteration %s", id)
	}
	return s.iterations[i], relabel.Progress{}, nil
}

func (s *localisations) FindPolicy(_ context.Context, id relabel.ID) (relabel.Policy, error) {
	return relabel.Policy{ID: id, Name: "student", Version: 2}, nil
}

func (s *localisations) FindBenchmark(_ context.Context, id relabel.ID) (relabel.Benchmark, error) {
	return relabel.Benchmark{ID: id, Name: "held", Excluded: []relabel.ExcludedTask{{InstanceID: "out", Reason: "no gold"}}}, nil
}

func (s *localisations) EachLocalisation(_ context.Context, iteration relabel.ID, each func(relabel.LocalisationRollout)) error {
	for _, r := range s.rollouts[iteration] {
		each(r)
	}
	return nil
}

// add adds an iteration of a run.
func (s *localisations) add(run relabel.ID, it relabel.Iteration, rollouts ...relabel.LocalisationRollout) relabel.ID {
	it.ID, it.RunID = relabel.NewID(), run
	if it.State == "" {
		it.State = relabel.IterationDone
	}
	s.iterations = append(s.iterations, it)
	if s.rollouts == nil {
		s.rollouts = map[relabel.ID][]relabel.LocalisationRollout{}
	}
	s.rollouts[it.ID] = rollouts
	return it.ID
}

func (s *localisations) report(t *testing.T, run relabel.ID, with *relabel.ID) relabel.LocalisationReport {
	t.Helper()
	report, err := evaluation.Localisation(context.Background(), s, run, with)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// localised is a graded rollout of a task whose gold is a.py::f and b.go::g.
func localised(task relabel.ID, score float64, list ...string) relabel.LocalisationRollout {
	return relabel.LocalisationRollout{TaskID: task, Submitted: true, Score: &score, Ranking: list, Turns: 4, Calls: 3, FailedCalls: 1,
		GoldFiles: []string{"a.py", "b.go"}, GoldFunctions: []string{"a.py::f", "b.go::g"}}
}

// unsubmitted is a graded rollout of the same task without a list.
func unsubmitted(task relabel.ID) relabel.LocalisationRollout {
	r := localised(task, 0, "a.py::f") // a list that was never submitted
	r.Submitted = false
	return r
}

func TestLocalisationMeansAreOverTasks(t *testing.T) {
	ids, run := newIDs(2), relabel.NewID()
	var s localisations
	s.add(run, relabel.Iteration{Kind: relabel.Evaluate, Number: 1, BenchmarkID: new(relabel.NewID())},
		localised(ids[0], 1, "a.py::f", "b.go::g"), unsubmitted(ids[0]), unsubmitted(ids[0]), unsubmitted(ids[0]), // a quarter
		localised(ids[1], 0.5, "a.py::f", "x.py", "a.py::f"))
	of := s.report(t, run, nil).Iterations[0]
	if of.Student != "student@2" || of.Benchmark != "held" || of.Tasks != 2 || of.Rollouts != 5 || of.Submitted.Count != 2 || of.Submitted.Of != 5 || of.Calls.Count != 10 || of.Calls.Of != 15 {
		t.Errorf("%+v", of)
	}
	nDCG := 1 / (1 + 1/math.Log2(3))
	for what, c := range map[string]struct {
		got  *relabel.TaskMean
		want float64
	}{
		"turns":              {of.Turns, 4},
		"score":              {of.Score, (0.25 + 0.5) / 2},
		"function Recall@1":  {&of.Functions.Recall1, (0.125 + 0.5) / 2},
		"function Recall@3":  {&of.Functions.Recall3, (0.25 + 0.5) / 2},
		"function Recall@5":  {&of.Functions.Recall5, (0.25 + 0.5) / 2},
		"MAP of functions":   {&of.Functions.MAP, (0.25 + 0.5) / 2},
		"MRR of functions":   {&of.Functions.MRR, (0.25 + 1) / 2},
		"nDCG@5 of function": {&of.Functions.NDCG5, (0.25 + nDCG) / 2},
		"nDCG@5 of files":    {&of.Files.NDCG5, (0.25 + nDCG) / 2},
	} {
		if math.Abs(c.got.Mean-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", what, c.got.Mean, c.want)
		}
	}
	want, _ := stats.BootstrapMean([]float64{0.25, 0.5}, 1) // of the score, by task
	if *of.Score.Low != want.Low || *of.Score.High != want.High {
		t.Errorf("the score's interval is [%v, %v], want %v", *of.Score.Low, *of.Score.High, want)
	}
}

func TestLocalisationLeavesOutWhatIsNotDefined(t *testing.T) {
	ids, run := newIDs(3), relabel.NewID()
	onlyFiles := localised(ids[0], 0, "a.py::f")
	onlyFiles.GoldFunctions = nil
	failed, open := localised(ids[1], 1), localised(ids[2], 1)
	failed.Score, open.Score, open.Open = nil, nil, true
	var s localisations
	s.add(run, relabel.Iteration{Kind: relabel.Sample, Number: 1}, onlyFiles, failed, open)
	s.add(run, relabel.Iteration{Kind: relabel.Collect, Number: 1}) // of other tasks
	report := s.report(t, run, nil)
	if len(report.Iterations) != 1 {
		t.Fatalf("%d iterations", len(report.Iterations))
	}
	of := report.Iterations[0]
	if of.Functions != nil || of.Score == nil || of.Files == nil || of.Files.Recall1.Mean != 0.5 || of.Files.Recall1.Low != nil || of.Tasks != 1 || of.Ungraded != 1 || of.Open != 1 {
		t.Errorf("%+v", of)
	}
}

func TestLocalisationNamesTheExcludedTasksBesideItsDenominators(t *testing.T) {
	ids, run := newIDs(1), relabel.NewID()
	s := localisations{excluded: []relabel.ExcludedTask{{InstanceID: "a", Reason: "no mirror"}, {InstanceID: "b", Reason: "no gold"}}}
	s.add(run, relabel.Iteration{Kind: relabel.Evaluate, Number: 1, BenchmarkID: new(relabel.NewID())}, localised(ids[0], 1))
	s.add(run, relabel.Iteration{Kind: relabel.Sample, Number: 1}, localised(ids[0], 1))
	report := s.report(t, run, nil)
	for i, want := range []string{"1 excluded: out (no gold)", "2 excluded: a (no mirror); b (no gold)"} {
		if got := report.Iterations[i].ExcludedText(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	heads, rows := evaluation.LocalisationTable(report)
	if at := slices.Index(heads, "excluded_tasks"); rows[0][at] != 1 || rows[3][at] != 2 {
		t.Errorf("the table has %v and %v", rows[0][at], rows[3][at])
	}
}

func TestLocalisationIsSplitByTheLanguagesOfGold(t *testing.T) {
	ids, run := newIDs(2), relabel.NewID()
	python := localised(ids[1], 0, "a.py::f")
	python.GoldFiles, python.GoldFunctions = []string{"a.py", "c.py"}, []string{"a.py::f"}
	var s localisations
	s.add(run, relabel.Iteration{Kind: relabel.Sample, Number: 1}, localised(ids[0], 1), python)
	languages := s.report(t, run, nil).Iterations[0].Languages
	if len(languages) != 2 || languages[0].Language != "go" || languages[0].Tasks != 1 || languages[1].Language != "python" || languages[1].Tasks != 2 {
		t.Errorf("%+v", languages)
	}
}

func TestIterationsAreComparedOnTheTasksThatBothHave(t *testing.T) {
	ids, run, benchmark := newIDs(4), relabel.NewID(), relabel.NewID()
	evaluate := relabel.Iteration{Kind: relabel.Evaluate, BenchmarkID: &benchmark}
	var s localisations
	first := s.add(run, evaluate, localised(ids[0], 0), localised(ids[1], 0, "a.py::f"), localised(ids[2], 1, "a.py::f", "b.go::g"))
	s.add(run, relabel.Iteration{Kind: relabel.Sample}, localised(ids[0], 0))
	other := relabel.NewID()
	s.add(run, relabel.Iteration{Kind: relabel.Evaluate, BenchmarkID: &other}, localised(ids[1], 0))
	running := evaluate
	running.State = relabel.IterationRunning
	s.add(run, running, localised(ids[0], 1))
	second := s.add(run, evaluate, localised(ids[3], 0), localised(ids[2], 1, "a.py::f", "b.go::g"), localised(ids[1], 1, "a.py::f", "b.go::g"), unsubmitted(ids[1]))
	report := s.report(t, run, nil)
	if len(report.Iterations) != 5 || len(report.Comparisons) != 1 {
		t.Fatalf("%+v", report.Comparisons)
	}
	c := report.Comparisons[0]
	if c.IterationID != second || c.WithID != first || c.Tasks != 2 || c.Functions.Tasks != 2 || c.Functions.Recall5.Mean != 0 || c.Functions.MRR.Mean != -0.25 || c.Score.Mean != 0.25 {
		t.Errorf("%+v", c)
	}
	// The differences by task are 0 and 0.5, in the order of the later iteration.
	if want, _ := stats.BootstrapMean([]float64{0, 0.5}, 1); *c.Score.Low != want.Low || *c.Score.High != want.High {
		t.Errorf("%v to %v, want %v", *c.Score.Low, *c.Score.High, want)
	}
}

func TestIterationsAreComparedWithTheOneAskedFor(t *testing.T) {
	ids, run, other := newIDs(1), relabel.NewID(), relabel.NewID()
	var s localisations
	of := s.add(run, relabel.Iteration{Kind: relabel.Sample}, localised(ids[0], 1))
	with := s.add(other, relabel.Iteration{Kind: relabel.Evaluate}, localised(ids[0], 0.25))
	running := s.add(other, relabel.Iteration{Kind: relabel.Evaluate, State: relabel.IterationRunning}, localised(ids[0], 0.25))
	none := s.add(other, relabel.Iteration{Kind: relabel.Evaluate})
	report := s.report(t, run, &with)
	if len(report.Comparisons) != 1 || report.Comparisons[0].IterationID != of || report.Comparisons[0].WithID != with || report.Comparisons[0].Score.Mean != 0.75 {
		t.Errorf("%+v", report.Comparisons)
	}
	if report := s.report(t, other, &with); len(report.Comparisons) != 0 {
		t.Errorf("compared with itself: %+v", report.Comparisons)
	}
	for _, with := range []relabel.ID{running, none} {
		if _, err := evaluation.Localisation(context.Background(), &s, run, &with); relabel.CodeOf(err) != relabel.CodeInvalid {
			t.Errorf("%v", err)
		}
	}
}

func TestTheTableOfLocalisationHasAllFigures(t *testing.T) {
	ids, run := newIDs(2), relabel.NewID()
	var s localisations
	s.add(run, relabel.Iteration{Kind: relabel.Sample, Number: 1}, localised(ids[0], 0))
	s.add(run, relabel.Iteration{Kind: relabel.Sample, Number: 2}, localised(ids[0], 1, "a.py::f", "b.go::g"))
	heads, rows := evaluation.LocalisationTable(s.report(t, run, nil))
	if len(rows) != 6 { // of each iteration, all tasks and two languages
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		if len(row) != len(heads) {
			t.Fatalf("%d cells under %d heads", len(row), len(heads))
		}
	}
	cell := func(row int, head string) any { return rows[row][slices.Index(heads, head)] }
	if cell(3, "language") != "all" || *cell(3, "functions_ndcg_at_5").(*float64) != 1 || *cell(3, "difference_files_recall_at_3").(*float64) != 1 || cell(3, "compared_tasks") != 1 {
		t.Errorf("%v", rows[3])
	}
	if cell(5, "language") != "python" || cell(5, "compared_tasks") != "" || cell(5, "open") != "" || *cell(5, "score").(*float64) != 1 {
		t.Errorf("%v", rows[5])
	}
	var text strings.Builder
	if err := evaluation.WriteCSV(&text, heads, rows); err != nil {
		t.Fatal(err)
	}
}
