package failuremode_test

import (
	"math"
	"testing"

	"relabel"
	"relabel/failuremode"
)

// TestJudgedModesAreComparedWithComputedOnes has ten judged submissions, computed × judged:
//
//	                   syntax  wrong_file  wrong_solution
//	syntax_or_runtime       2           1               0
//	wrong_file              0           3               1
//	wrong_solution          1           0               2
//
// so that po = 7/10, pe = (3·3 + 4·4 + 3·3)/100 = 0.34 and κ = 0.36/0.66.
func TestJudgedModesAreComparedWithComputedOnes(t *testing.T) {
	t.Parallel()
	it := relabel.Iteration{ID: relabel.NewID(), Kind: relabel.Evaluate, Number: 2}
	judge, task := relabel.NewID(), relabel.NewID()
	tally := func(submitted bool, computed, judged relabel.FailureMode, n int) relabel.JudgeTally {
		return relabel.JudgeTally{IterationID: it.ID, TaskID: relabel.NewID(), PolicyID: judge, Prompt: "p", PromptVersion: 1, Submitted: submitted,
			Mode: computed, Outcome: relabel.Judged, JudgedMode: judged, Count: n, HiddenTurns: n}
	}
	syntax, file, solution := relabel.ModeSyntax, relabel.ModeWrongFile, relabel.ModeWrongSolution
	tallies := []relabel.JudgeTally{tally(true, syntax, syntax, 2), tally(true, syntax, file, 1), tally(true, file, file, 3), tally(true, file, solution, 1),
		tally(true, solution, syntax, 1), tally(true, solution, solution, 2), tally(false, relabel.ModeOther, relabel.ModeLoop, 1),
		{IterationID: it.ID, TaskID: task, PolicyID: judge, Prompt: "p", Submitted: true, Mode: solution, Outcome: relabel.JudgeInvalid, Count: 4},
		{IterationID: it.ID, TaskID: task, PolicyID: judge, Prompt: "p", Submitted: true, Mode: solution, Outcome: relabel.JudgeMissing, Count: 5},
		{IterationID: relabel.NewID(), TaskID: task, PolicyID: judge, Prompt: "p", Submitted: true, Mode: solution, Outcome: relabel.Judged, JudgedMode: solution, Count: 9},
		{IterationID: it.ID, TaskID: task, PolicyID: judge, Prompt: "q", Submitted: true, Mode: solution, Outcome: relabel.Judged, JudgedMode: solution, JudgedToolUse: true, Count: 1}}
	all := failuremode.Judged([]relabel.Iteration{it}, tallies)
	if len(all) != 2 || len(all[0].Iterations) != 1 || all[0].Prompt != "p" || all[1].Prompt != "q" {
		t.Fatalf("%+v", all)
	}
	of := all[0].Iterations[0]
	if of.Judged != 11 || of.Invalid != 4 || of.Missing != 5 || of.HiddenTurns != 11 {
		t.Errorf("%+v", of)
	}
	counts := func(of []relabel.JudgedCount) (all [][3]int) {
		for _, c := range of {
			all = append(all, [3]int{c.Computed.Count, c.Judged.Count, c.Final.Count})
		}
		return all
	}
	// Of the computed wrong solutions the judge makes one a syntax error; other computed modes stay.
	if got := counts(of.Unresolved); got[0] != [3]int{3, 3, 4} || got[1] != [3]int{4, 4, 4} || got[2] != [3]int{3, 3, 2} || of.Unresolved[0].Judged.Of != 10 {
		t.Errorf("%v", got)
	}
	if got := counts(of.NoSubmission); got[0] != [3]int{0, 1, 1} || got[4] != [3]int{1, 0, 0} {
		t.Errorf("%v", got)
	}
	a := all[0].Agreements[0]
	if a.Among != "submitted" || a.Equal.Count != 7 || a.Equal.Of != 10 || *a.Equal.Low >= 0.7 || *a.Equal.High <= 0.7 || a.Kappa == nil || math.Abs(*a.Kappa-0.36/0.66) > 1e-12 || len(a.Confusion) != 6 ||
		a.Confusion[1] != (relabel.ConfusionCount{Computed: "syntax_or_runtime", Judged: "wrong_file", Count: 1}) {
		t.Errorf("%+v", a)
	}
	if a := all[0].Agreements[1]; a.Equal.Count != 0 || a.Equal.Of != 1 || a.Kappa == nil || *a.Kappa != 0 {
		t.Errorf("%+v", a)
	}
	if a := all[1].Agreements[2]; a.Equal.Count != 0 || a.Confusion[0] != (relabel.ConfusionCount{Computed: "false", Judged: "true", Count: 1}) {
		t.Errorf("%+v", a)
	}
}
