package failuremode_test

import (
	"math"
	"testing"

	"relabel"
	"relabel/failuremode"
	"relabel/stats"
)

// TestTheReportCountsEachTrajectoryOnce has an iteration with one rollout per task and one with
// several: partitions add up, and the interval fits the dependence of rollouts of a task.
func TestTheReportCountsEachTrajectoryOnce(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	its := []relabel.Iteration{{ID: relabel.NewID(), Number: 1, Kind: relabel.Collect}, {ID: relabel.NewID(), Number: 1, Kind: relabel.Evaluate}}
	var tallies []relabel.FailureTally
	add := func(it int, task relabel.ID, submitted bool, resolved *bool, mode relabel.FailureMode, count int) {
		tallies = append(tallies, relabel.FailureTally{IterationID: its[it].ID, TaskID: task, Submitted: submitted, Resolved: resolved, Mode: mode,
			Classified: mode != "" || resolved == &yes, ToolUseError: mode == relabel.ModeLoop, Count: count})
	}
	for range 3 {
		add(0, relabel.NewID(), true, &no, relabel.ModeWrongFile, 1)
	}
	add(0, relabel.NewID(), true, &no, relabel.ModeSyntax, 1)
	add(0, relabel.NewID(), true, &yes, "", 1)
	add(0, relabel.NewID(), true, nil, "", 1)
	add(0, relabel.NewID(), false, &no, "", 1)
	add(0, relabel.NewID(), false, &no, relabel.ModeLoop, 1)
	tallies = append(tallies, relabel.FailureTally{IterationID: its[0].ID, TaskID: relabel.NewID(), Unverified: true, ToolUseError: true, Mode: relabel.ModeNoEdit, Classified: true, Count: 2})
	older := relabel.FailureTally{IterationID: its[0].ID, TaskID: relabel.NewID(), Submitted: true, Resolved: &no, Mode: relabel.ModeWrongFile, ToolUseError: true, Count: 2}
	tallies = append(tallies, older) // of older rules: not computed
	tallies = append(tallies, relabel.FailureTally{IterationID: its[0].ID, TaskID: relabel.NewID(), Cut: true, Classified: true, ToolUseError: true, Count: 4})
	a, b := relabel.NewID(), relabel.NewID()
	add(1, a, false, &no, relabel.ModeLoop, 3)
	add(1, a, false, &no, relabel.ModeNoEdit, 1)
	add(1, b, false, nil, relabel.ModeNoEdit, 2)
	report := failuremode.Report(relabel.NewID(), its, tallies)
	f, e := report.Iterations[0], report.Iterations[1]
	if f.Done != 16 || f.Cut != 4 || f.Tasks != 11 || f.Unverified != 1 || f.Unclassified != 3 || f.Resolved.Count != 1 || f.Resolved.Of != 9 || f.Submitted.Count != 8 || f.Submitted.Of != 12 {
		t.Errorf("%+v", f)
	}
	want := stats.Wilson(3, 4)
	if c := f.Unresolved[1]; c.Mode != relabel.ModeWrongFile || c.Count != 3 || c.Of != 4 || *c.Share != 0.75 || *c.Low != want.Low || *c.High != want.High {
		t.Errorf("%+v", c)
	}
	if f.ToolUseError.Count != 1 || f.ToolUseError.Of != 5 || f.NoSubmission[0].Of != 3 {
		t.Errorf("%+v", f)
	}
	clustered, _ := stats.Clustered([]stats.Cluster{{Successes: 3, Trials: 4}, {Successes: 0, Trials: 2}})
	if c := e.NoSubmission[0]; c.Count != 3 || c.Of != 6 || math.Abs(*c.Low-clustered.Low) > 1e-12 || math.Abs(*c.High-clustered.High) > 1e-12 || e.Unresolved[0].Share != nil {
		t.Errorf("%+v, want %+v", e, clustered)
	}
}
