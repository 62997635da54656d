package store_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"relabel"
	"relabel/failuremode"
	"relabel/store"
	"relabel/store/storetest"
)

// classifyAll computes all modes that are missing and returns how many there were.
func classifyAll(t *testing.T, s *store.Store) (n int) {
	t.Helper()
	for {
		id, err := s.ClassifyNext(context.Background(), nil, func(e relabel.FailureEvidence, eachTurn func(func(relabel.Turn)) error) (relabel.FailureFinding, error) {
			var traces []failuremode.Trace
			var compared failuremode.Comparisons
			err := eachTurn(func(turn relabel.Turn) {
				traces = append(traces, failuremode.TraceOf(turn))
				compared.Add(turn)
			})
			f := failuremode.Classify(e, traces)
			f.Comparisons = compared.List()
			return f, err
		})
		must(t, err)
		if id == (relabel.ID{}) {
			return n
		}
		n++
	}
}

// A computation may take longer than other transactions may be idle.
func TestALongClassificationIsStored(t *testing.T) {
	t.Parallel()
	database := storetest.Migrated(t)
	s := storetest.Open(t, database)
	d := storetest.Seed(t, s, 1)
	end(t, s, storetest.Claim(t, s, d.Trajectories[0].ID, "w"), 1, relabel.Ending{Reason: relabel.EndMaxTurns}, relabel.Verdict{Reason: relabel.VerdictEmptyPatch})
	hasty := storetest.Open(t, database+"&idle_in_transaction_session_timeout=300ms")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	id, err := hasty.ClassifyNext(ctx, nil, func(relabel.FailureEvidence, func(func(relabel.Turn)) error) (relabel.FailureFinding, error) {
		time.Sleep(time.Second) // longer than the server allows other transactions to be idle
		return relabel.FailureFinding{Mode: relabel.ModeNoEdit, Turns: []int{}, ToolTurns: []int{}, Rules: relabel.FailureRules}, nil
	})
	must(t, err)
	if f, err := s.FindFailure(t.Context(), id); err != nil || f.Mode != relabel.ModeNoEdit {
		t.Errorf("%+v, %v", f, err)
	}
}

// end takes a claimed trajectory to done after n turns with the same action and observation.
func end(t *testing.T, s *store.Store, c relabel.Claim, n int, ending relabel.Ending, v relabel.Verdict) {
	t.Helper()
	ctx := context.Background()
	for i := 1; i <= n; i++ {
		label := storetest.Received(c.Teacher.ID, "label")
		turn := storetest.Turn(c, i, &label)
		turn.Action = storetest.Received(turn.Action.PolicyID, "again")
		turn.Observations[0].Content = "the same"
		must(t, s.CommitTurn(ctx, c.Fence, turn))
	}
	must(t, s.EndRollout(ctx, c.Fence, ending))
	must(t, s.BeginVerifying(ctx, c.Fence))
	must(t, s.Finish(ctx, c.Fence, v))
}

// TestModesOfDoneTrajectoriesAreComputedOnce has one trajectory of each kind: a loop, a wrong
// solution, one that is resolved, one without a verdict and one that has not ended.
func TestModesOfDoneTrajectoriesAreComputedOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 5)
	patch := []byte("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n")
	submitted := relabel.Ending{Reason: relabel.EndFinish, Patch: patch, Submitted: true}
	end(t, s, storetest.Claim(t, s, d.Trajectories[0].ID, "w"), 5, relabel.Ending{Reason: relabel.EndMaxTurns}, relabel.Verdict{Reason: relabel.VerdictEmptyPatch})
	end(t, s, storetest.Claim(t, s, d.Trajectories[1].ID, "w"), 2, submitted, relabel.Verdict{Reason: relabel.VerdictTests, Output: []byte("1 failed")})
	end(t, s, storetest.Claim(t, s, d.Trajectories[2].ID, "w"), 2, submitted, relabel.Verdict{Passed: true, Reason: relabel.VerdictTestsPassed})
	end(t, s, storetest.Claim(t, s, d.Trajectories[3].ID, "w"), 2, submitted, relabel.Verdict{Infra: "the engine is gone"})
	if _, err := s.FindFailure(ctx, d.Trajectories[0].ID); relabel.CodeOf(err) != relabel.CodeNotFound {
		t.Errorf("before it is computed: %v", err)
	}
	if n := classifyAll(t, s); n != 4 {
		t.Fatalf("%d computed", n)
	}
	if n := classifyAll(t, s); n != 0 {
		t.Errorf("%d computed again", n)
	}
	for i, want := range []relabel.FailureMode{relabel.ModeLoop, relabel.ModeWrongSolution, "", "", ""} {
		tr, err := s.FindTrajectory(ctx, d.Trajectories[i].ID)
		must(t, err)
		if tr.FailureMode != want || (tr.ToolUseError == nil) != (i == 4) {
			t.Errorf("%d: %q, tool-use error %v", i, tr.FailureMode, tr.ToolUseError)
		}
	}
	f, err := s.FindFailure(ctx, d.Trajectories[0].ID)
	must(t, err)
	if !slices.Equal(f.Turns, []int{1, 2, 3, 4, 5}) || f.Reason == "" || f.Rules != relabel.FailureRules || f.ToolUseError {
		t.Errorf("%+v", f)
	}
	var turns, agreed int
	comparisons, err := s.ListComparisons(ctx, d.Run.ID)
	must(t, err)
	for _, c := range comparisons {
		turns, agreed = turns+c.Turns, agreed+c.Agreed
	}
	if turns != 3+1+1+1 || agreed != 0 || len(comparisons) != 4 { // the student executes turns 1, 3 and 5
		t.Errorf("%+v", comparisons)
	}
	page, err := s.ListTrajectories(ctx, relabel.TrajectoryFilter{RunID: &d.Run.ID, FailureMode: relabel.ModeLoop}, "", relabel.Page{})
	must(t, err)
	if page.Total != 1 || page.Items[0].ID != d.Trajectories[0].ID {
		t.Errorf("%+v", page)
	}
	page, err = s.ListTrajectories(ctx, relabel.TrajectoryFilter{ToolUseError: relabel.NoToolUseErrors}, "", relabel.Page{})
	must(t, err)
	if page.Total != 4 {
		t.Errorf("%d without a tool-use error", page.Total)
	}
}

// TestANewVerdictGetsANewMode grades a wrong solution again: while the new verdict has no mode, the
// old one is not shown.
func TestANewVerdictGetsANewMode(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, d := graded(t)
	id := d.Trajectories[1].ID
	classifyAll(t, s)
	if tr, err := s.FindTrajectory(ctx, id); err != nil || tr.FailureMode != relabel.ModeWrongSolution {
		t.Fatalf("%+v, %v", tr, err)
	}
	_, err := s.Regrade(ctx, relabel.RegradeSelection{RunID: d.Run.ID, TrajectoryID: &id})
	must(t, err)
	c, err := s.ClaimRegrading(ctx, "g", time.Minute)
	must(t, err)
	must(t, s.FinishRegrading(ctx, c.RegradeFence, relabel.Verdict{Reason: relabel.VerdictUnfinished, Protections: relabel.ProtectionsVersion}, time.Minute))
	if tr, err := s.FindTrajectory(ctx, id); err != nil || tr.FailureMode != "" {
		t.Errorf("the mode of the earlier verdict: %+v, %v", tr, err)
	}
	if n := classifyAll(t, s); n != 1 {
		t.Errorf("%d computed", n)
	}
	if tr, err := s.FindTrajectory(ctx, id); err != nil || tr.FailureMode != relabel.ModeSyntax {
		t.Errorf("%+v, %v", tr, err)
	}
	tallies, err := s.ListFailureTallies(ctx, d.Run.ID)
	must(t, err)
	if len(tallies) != 2 || tallies[0].Count != 1 || !tallies[0].Classified || !tallies[1].Classified {
		t.Errorf("%+v", tallies)
	}
}

// TestModesAreComputedOfOldRules raises the version: stored modes are computed again.
func TestModesAreComputedOfOldRules(t *testing.T) {
	t.Parallel()
	s, _ := graded(t)
	classifyAll(t, s)
	exec(t, s, "UPDATE trajectories SET failure_rules = 0")
	if n := classifyAll(t, s); n != 2 {
		t.Errorf("%d computed", n)
	}
}

func TestATrajectoryThatCannotBeClassifiedCanBePassedOver(t *testing.T) {
	t.Parallel()
	s, d := graded(t)
	refuse := func(relabel.FailureEvidence, func(func(relabel.Turn)) error) (relabel.FailureFinding, error) {
		return relabel.FailureFinding{}, errors.New("no")
	}
	first, err := s.ClassifyNext(context.Background(), nil, refuse)
	if first != d.Trajectories[0].ID || err == nil {
		t.Fatalf("%s, %v", first, err)
	}
	second, err := s.ClassifyNext(context.Background(), []relabel.ID{first}, refuse)
	if second != d.Trajectories[1].ID || err == nil {
		t.Errorf("%s, %v", second, err)
	}
	if none, err := s.ClassifyNext(context.Background(), []relabel.ID{first, second}, refuse); none != (relabel.ID{}) || err != nil {
		t.Errorf("%s, %v", none, err)
	}
}

// TestAnExportExcludesTheModesOfItsCut: a loop, a wrong solution with a tool-use error, a resolved one and one
// whose mode is not computed.
func TestAnExportExcludesTheModesOfItsCut(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 4)
	submitted := relabel.Ending{Reason: relabel.EndFinish, Patch: []byte("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n"), Submitted: true}
	failed := relabel.Verdict{Reason: relabel.VerdictTests, Output: []byte("1 failed")}
	end(t, s, storetest.Claim(t, s, d.Trajectories[0].ID, "w"), 5, relabel.Ending{Reason: relabel.EndMaxTurns}, relabel.Verdict{Reason: relabel.VerdictEmptyPatch})
	end(t, s, storetest.Claim(t, s, d.Trajectories[1].ID, "w"), 2, submitted, failed)
	end(t, s, storetest.Claim(t, s, d.Trajectories[2].ID, "w"), 2, submitted, relabel.Verdict{Passed: true, Reason: relabel.VerdictTestsPassed})
	classifyAll(t, s)
	end(t, s, storetest.Claim(t, s, d.Trajectories[3].ID, "w"), 2, submitted, failed)
	exec(t, s, "UPDATE trajectories SET tool_use_error = true WHERE id = $1", d.Trajectories[1].ID)
	must(t, s.CreateReview(ctx, relabel.Review{TrajectoryID: d.Trajectories[0].ID, Flag: "leak"}))
	for _, c := range []struct {
		flags []string
		want  [4]string
	}{
		{[]string{"leak"}, [4]string{"leak"}},
		{[]string{"mode:loop"}, [4]string{"mode:loop", "", "", "mode:"}},
		{[]string{"mode:tool_use_error", "mode:loop", "leak"}, [4]string{"leak mode:loop", "mode:tool_use_error", "", "mode:"}},
		{[]string{"mode:tool_use_error", "mode:wrong_solution"}, [4]string{"", "mode:tool_use_error mode:wrong_solution", "", "mode:"}},
		{[]string{relabel.AnyFlag}, [4]string{"leak"}},
	} {
		e := relabel.Export{ID: relabel.NewID(), FolderID: "f", Selection: relabel.ExportSelection{RunID: d.Run.ID, Iteration: 1, ExcludeFlags: c.flags}}
		must(t, s.CreateExport(ctx, e))
		must(t, s.CutExport(ctx, e.ID, 1<<40))
		part, err := s.FindExportPart(ctx, e.ID, 0)
		must(t, err)
		for tr, err := range s.ExportTrajectories(ctx, e.Selection, part) {
			must(t, err)
			var flags []string
			for _, f := range tr.Flagged {
				flags = append(flags, f.Flag)
			}
			of := slices.IndexFunc(d.Trajectories, func(other relabel.Trajectory) bool { return other.ID == tr.Trajectory.ID })
			if got := strings.Join(flags, " "); got != c.want[of] {
				t.Errorf("excluding %q, trajectory %d has %q, not %q", c.flags, of, got, c.want[of])
			}
		}
	}
}

// TestUnresolvedToolUseErrorsAreListedAsTheReportCountsThem gives all five trajectories a tool-use error: a loop,
// a wrong solution, a resolved one, a submission without a verdict, and a rollout that is not to be verified.
func TestUnresolvedToolUseErrorsAreListedAsTheReportCountsThem(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.SeedWith(t, s, 5, func(d *storetest.Seeded) { d.Trajectories[4].SkipVerify = true })
	submitted := relabel.Ending{Reason: relabel.EndFinish, Patch: []byte("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n"), Submitted: true}
	end(t, s, storetest.Claim(t, s, d.Trajectories[0].ID, "w"), 5, relabel.Ending{Reason: relabel.EndMaxTurns}, relabel.Verdict{Reason: relabel.VerdictEmptyPatch})
	end(t, s, storetest.Claim(t, s, d.Trajectories[1].ID, "w"), 2, submitted, relabel.Verdict{Reason: relabel.VerdictTests, Output: []byte("1 failed")})
	end(t, s, storetest.Claim(t, s, d.Trajectories[2].ID, "w"), 2, submitted, relabel.Verdict{Passed: true, Reason: relabel.VerdictTestsPassed})
	end(t, s, storetest.Claim(t, s, d.Trajectories[3].ID, "w"), 2, submitted, relabel.Verdict{Infra: "the engine is gone"})
	c := storetest.Claim(t, s, d.Trajectories[4].ID, "w")
	must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndMaxTurns}))
	must(t, s.BeginVerifying(ctx, c.Fence))
	must(t, s.FinishUnverified(ctx, c.Fence))
	classifyAll(t, s)
	exec(t, s, "UPDATE trajectories SET tool_use_error = true")
	same := func(want int) {
		t.Helper()
		list, err := s.ListTrajectories(ctx, relabel.TrajectoryFilter{RunID: &d.Run.ID, ToolUseError: relabel.ToolUseUnresolved}, "", relabel.Page{})
		must(t, err)
		report, err := failuremode.Read(ctx, s, d.Run.ID)
		must(t, err)
		if counted := report.Iterations[0].ToolUseError.Count; list.Total != counted || counted != want {
			t.Errorf("the list has %d, the report counts %d, want %d", list.Total, counted, want)
		}
	}
	same(2)
	exec(t, s, "UPDATE trajectories SET failure_rules = failure_rules - 1 WHERE id = $1", d.Trajectories[0].ID)
	same(1)
	list, err := s.ListTrajectories(ctx, relabel.TrajectoryFilter{RunID: &d.Run.ID, ToolUseError: relabel.ToolUseErrors}, "", relabel.Page{})
	must(t, err)
	if list.Total != 5 {
		t.Errorf("%d with a tool-use error", list.Total)
	}
}
