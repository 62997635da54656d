package evaluation_test

import (
	"encoding/csv"
	"math"
	"strings"
	"testing"

	"relabel"
	"relabel/evaluation"
)

// results are tasks of one repository with one graded trajectory each, resolved where word has a 1.
func results(ids []relabel.ID, word string) (tasks []relabel.TaskResults) {
	for i, id := range ids {
		t := relabel.TaskResults{TaskID: id, Repository: "r", Graded: 1, Submitted: 1}
		switch word[i] {
		case '1':
			t.Resolved = 1
		case 'x':
			t.Graded, t.Submitted, t.Infrastructure = 0, 0, 1
		}
		tasks = append(tasks, t)
	}
	return tasks
}

func newIDs(n int) (ids []relabel.ID) {
	for range n {
		ids = append(ids, relabel.NewID())
	}
	return ids
}

func near(x *float64, want float64) bool { return x != nil && math.Abs(*x-want) < 1e-4 }

func TestAnEvaluationLeavesOutWhatTheInfrastructureFailed(t *testing.T) {
	ids := newIDs(12)
	tasks := results(ids, "111000000xx0")
	tasks[11].Repository, tasks[11].Submitted = "other", 0 // a student that never finishes
	e := evaluation.Of(relabel.Iteration{ID: relabel.NewID()}, tasks)
	if e.Tasks != 12 || e.Ungraded != 2 || e.Infrastructure != 2 || e.Resolved.Count != 3 || e.Resolved.Of != 10 || e.Submitted.Count != 9 {
		t.Errorf("%+v", e)
	}
	if !near(e.Resolved.Low, 0.10779) || !near(e.Resolved.High, 0.60322) { // statsmodels' proportion_confint(3, 10, method="wilson")
		t.Errorf("3 of 10: [%v, %v]", *e.Resolved.Low, *e.Resolved.High)
	}
	if r := e.Repositories; len(r) != 2 || r[0].Repository != "other" || r[0].Resolved.Count != 0 || r[0].Resolved.Of != 1 || r[1].Tasks != 11 || r[1].Ungraded != 2 {
		t.Errorf("%+v", r)
	}
}

func TestTwoEvaluationsAreComparedTaskByTask(t *testing.T) {
	ids := newIDs(12)
	after, before := results(ids, "11111111001x"), results(ids[:11], "00000001100")
	c := evaluation.Compare(after, before)
	// 11 tasks: 7 and the last one are better, 1 is worse. Two-sided binomial test of 1 of 9: 2·(1+9)/2⁹.
	if c.Tasks != 11 || c.Ungraded != 1 || c.Better != 8 || c.Worse != 1 || !near(c.P, 20.0/512) || !near(c.Difference, 7.0/11) {
		t.Errorf("%+v", c)
	}
	if !(*c.Low < *c.Difference && *c.Difference < *c.High) {
		t.Errorf("[%v, %v]", *c.Low, *c.High)
	}
	if again := evaluation.Compare(after, before); *again.Low != *c.Low || *again.High != *c.High {
		t.Error("the same comparison has another interval")
	}
	same := evaluation.Compare(before, before)
	if *same.Difference != 0 || *same.P != 1 || *same.Low != 0 || *same.High != 0 {
		t.Errorf("%+v", same)
	}
}

func TestSeveralGenerationsHaveNoMcNemarTest(t *testing.T) {
	ids := newIDs(3)
	after, before := results(ids, "110"), results(ids, "100")
	after[1] = relabel.TaskResults{TaskID: ids[1], InstanceID: "b", Graded: 4, Resolved: 3}
	if changed := evaluation.Compare(after, before).Changed; len(changed) != 1 || changed[0] != (relabel.ChangedTask{TaskID: ids[1], InstanceID: "b", Resolved: 3, Graded: 4, WithGraded: 1}) {
		t.Errorf("changed: %+v", changed)
	}
	if c := evaluation.Compare(after, before); c.P != nil || !near(c.Difference, 0.25) || c.Better != 1 {
		t.Errorf("%+v", c)
	}
	if c := evaluation.Compare(results(ids, "xxx"), before); c.Tasks != 0 || c.Ungraded != 3 || c.Difference != nil {
		t.Errorf("%+v", c)
	}
}

func TestAShareNamesTheMethodOfItsInterval(t *testing.T) {
	for want, trials := range map[relabel.IntervalMethod][][2]int{ // successes and trials by task
		relabel.IntervalWilson: {{1, 1}, {0, 1}}, relabel.IntervalClustered: {{1, 2}, {0, 2}}, relabel.IntervalWilsonByTask: {{2, 2}, {2, 2}}, "": {{0, 0}},
	} {
		var sum evaluation.ByTask
		for _, of := range trials {
			sum.Add(relabel.NewID(), of[0], of[1])
		}
		if p := sum.Proportion(); p.Interval != want {
			t.Errorf("%v: %q, not %q", trials, p.Interval, want)
		}
	}
}

func TestTheTableOfAReportHasTheSameColumnsForAllRows(t *testing.T) {
	ids := newIDs(4)
	e := evaluation.Of(relabel.Iteration{ID: ids[0], Kind: relabel.Evaluate, Number: 2}, results(ids, "1100"))
	e.BenchmarkID, e.Benchmark, e.Hinted, e.HintsFrom = ids[1], "a, \"b\"", 3, "finder"
	sample := evaluation.Of(relabel.Iteration{ID: ids[2], Kind: relabel.Sample, Number: 1, Generations: 2}, results(ids, "10xx"))
	sample.PassAtK = []relabel.PassAtK{{K: 1, Value: new(0.25), Tasks: 2}, {K: 2, Tasks: 0, Short: 2}}
	measured := evaluation.Of(relabel.Iteration{ID: ids[3], Kind: relabel.Sample, Number: 2, Generations: 1}, results(ids, "1000"))
	measured.BenchmarkID, measured.Benchmark = ids[1], "held"
	c := evaluation.Compare(results(ids, "1100"), results(ids, "1000"))
	c.IterationID, c.WithID = ids[0], ids[3]
	report := relabel.EvaluationReport{Evaluations: []relabel.Results{e}, Comparisons: []relabel.Comparison{c}, Samples: []relabel.Results{sample, measured}}
	heads, rows := evaluation.Table(report)
	var b strings.Builder
	if err := evaluation.WriteCSV(&b, heads, rows); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil || len(lines) != 4 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	for row, want := range []map[string]string{
		{"benchmark": "a, \"b\"", "number": "2", "resolved": "2", "resolved_share": "0.5", "resolved_interval": "wilson", "pass_at_1": "", "compared_with_id": ids[3].String(), "difference": "0.25", "better": "1", "mcnemar_p": "1", "hinted": "3", "hints_from": "finder"},
		{"kind": "sample", "benchmark_id": "", "benchmark": "", "infrastructure": "2", "pass_at_1": "0.25", "pass_at_1_tasks": "2", "pass_at_2": "", "pass_at_2_tasks": "0", "difference": ""},
		{"kind": "sample", "number": "2", "benchmark_id": ids[1].String(), "benchmark": "held", "compared_with_id": ""},
	} {
		for i, head := range lines[0] {
			if value, is := want[head]; is && lines[row+1][i] != value {
				t.Errorf("row %d: %s is %q, not %q", row, head, lines[row+1][i], value)
			}
			delete(want, head)
		}
		if len(want) > 0 {
			t.Errorf("no columns %v", want)
		}
	}
	if heads, rows := evaluation.RepositoryTable(report); len(rows) != 3 || len(rows[0]) != len(heads) || rows[0][3] != "r" {
		t.Errorf("%v: %v", heads, rows)
	}
}

func TestCellsOfCSVAreNeitherFormulasNorNil(t *testing.T) {
	var b strings.Builder
	if err := evaluation.WriteCSV(&b, []string{"head"}, [][]any{{"=1+1", "-a", "a-b", -1.5, nil, (*float64)(nil), new(-0.25), "", new(1234567.89)}}); err != nil {
		t.Fatal(err)
	}
	if want := "head\n'=1+1,'-a,a-b,-1.5,,,-0.25,,1234567.89\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
