package store_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

var judgePrompt = relabel.JudgePrompt{Hash: strings.Repeat("ab", 32), Version: 1, Gold: true, Text: "Judge."}

// failedTrajectories finishes five trajectories: a loop, two wrong solutions, one that is resolved and one
// without a verdict.
func failedTrajectories(t *testing.T) (*store.Store, storetest.Seeded) {
	t.Helper()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 5)
	patch := []byte("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n")
	submitted := relabel.Ending{Reason: relabel.EndFinish, Patch: patch, Submitted: true}
	end(t, s, storetest.Claim(t, s, d.Trajectories[0].ID, "w"), 5, relabel.Ending{Reason: relabel.EndMaxTurns}, relabel.Verdict{Reason: relabel.VerdictEmptyPatch})
	end(t, s, storetest.Claim(t, s, d.Trajectories[1].ID, "w"), 2, submitted, relabel.Verdict{Reason: relabel.VerdictTests, Output: []byte("1 failed")})
	end(t, s, storetest.Claim(t, s, d.Trajectories[2].ID, "w"), 2, submitted, relabel.Verdict{Reason: relabel.VerdictTests, Output: []byte("1 failed")})
	end(t, s, storetest.Claim(t, s, d.Trajectories[3].ID, "w"), 2, submitted, relabel.Verdict{Passed: true, Reason: relabel.VerdictTestsPassed})
	end(t, s, storetest.Claim(t, s, d.Trajectories[4].ID, "w"), 2, submitted, relabel.Verdict{Infra: "the engine is gone"})
	classifyAll(t, s)
	return s, d
}

func judgement(mode relabel.FailureMode) relabel.Judgement {
	return relabel.Judgement{Outcome: relabel.Judged, Mode: mode, ToolUseError: new(true), Explanation: "It went wrong.", Turns: []int{1, 2},
		HiddenTurns: 3, ShortenedTexts: 4, GoldShown: true, Answers: 2, Answer: `{"mode":…}`}
}

func TestJudgementsOfUnresolvedTrajectoriesAreStoredBesideTheComputedModes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, d := failedTrajectories(t)
	judge := storetest.Policy(t, s, "judge")
	judge.Price = &relabel.Price{Input: 2, Output: 10, Currency: "EUR"}
	sel := relabel.JudgeSelection{RunID: d.Run.ID}
	e, err := s.EstimateJudging(ctx, sel, judge, judgePrompt)
	must(t, err)
	if e.Prompt != judgePrompt.Hash || e.Trajectories != 3 || e.MostCalls != 9 || e.Tokens < 3 || e.AnswerTokens != 1200 || *e.LeastCostMicros != 2*e.Tokens+12000 || *e.MostCostMicros != 3**e.LeastCostMicros {
		t.Errorf("estimate %+v", e)
	}
	wantCode(t, s.StartJudging(ctx, relabel.JudgeSelection{RunID: d.Run.ID, Modes: []relabel.FailureMode{relabel.ModeNoEdit}}, judge.ID, judgePrompt, 0), relabel.CodeConflict)
	must(t, s.StartJudging(ctx, sel, judge.ID, judgePrompt, 5))
	must(t, s.StartJudging(ctx, sel, judge.ID, judgePrompt, 5))
	said := map[relabel.ID]relabel.Judgement{}
	for _, mode := range []relabel.FailureMode{relabel.ModeLoop, relabel.ModeWrongFile, ""} {
		c, err := s.ClaimJudging(ctx, "w", storetest.Lease)
		must(t, err)
		if c.Prompt != judgePrompt || c.Policy.ID != judge.ID || c.Run.ID != d.Run.ID || c.Task.ID != c.Evidence.Trajectory.TaskID || len(c.Turns) != c.Evidence.Trajectory.Turns || c.Evidence.Verdict == nil {
			t.Errorf("claim %+v", c)
		}
		j := judgement(mode)
		if mode == "" {
			j = relabel.Judgement{Outcome: relabel.JudgeInvalid, Reason: "turn 9 was not shown", Turns: []int{}, Answers: 3, Answer: "wrong"}
		}
		must(t, s.FinishJudging(ctx, c.JudgeFence, j))
		said[c.Evidence.Trajectory.ID] = j
	}
	_, err = s.ClaimJudging(ctx, "w", storetest.Lease)
	wantCode(t, err, relabel.CodeNotFound)

	list, _, err := s.ListJudgings(ctx, relabel.JudgingFilter{RunID: &d.Run.ID, PolicyID: &judge.ID}, relabel.Page{})
	must(t, err)
	if len(list) != 3 || len(said) != 3 {
		t.Fatalf("%d judgings of %d trajectories", len(list), len(said))
	}
	for _, j := range list {
		one, err := s.FindJudging(ctx, j.ID)
		must(t, err)
		if !reflect.DeepEqual(one.Judgement, said[j.TrajectoryID]) || j.Answer != "" || j.State != relabel.JudgingDone || j.Priority != 5 || j.Prompt != judgePrompt.Hash {
			t.Errorf("stored %+v\nsaid %+v", one, said[j.TrajectoryID])
		}
		if tr, err := s.FindTrajectory(ctx, j.TrajectoryID); err != nil || tr.FailureMode != relabel.ModeLoop && tr.FailureMode != relabel.ModeWrongSolution {
			t.Errorf("the computed mode is now %q, %v", tr.FailureMode, err)
		}
	}
	tallies, err := s.ListJudgeTallies(ctx, d.Run.ID)
	must(t, err)
	if n := len(tallies); n != 3 {
		t.Errorf("%d tallies: %+v", n, tallies)
	}
	exec(t, s, "UPDATE trajectories SET failure_rules = failure_rules - 1 WHERE id = $1", list[0].TrajectoryID)
	tallies, err = s.ListJudgeTallies(ctx, d.Run.ID)
	must(t, err)
	if n := len(tallies); n != 2 {
		t.Errorf("%d tallies, with the mode of earlier rules: %+v", n, tallies)
	}
	page, err := s.ListTrajectories(ctx, relabel.TrajectoryFilter{RunID: &d.Run.ID, JudgedMode: relabel.ModeWrongFile}, "", relabel.Page{})
	must(t, err)
	if page.Total != 1 || said[page.Items[0].ID].Mode != relabel.ModeWrongFile {
		t.Errorf("the list of a judged mode: %+v", page)
	}

	// Another request judges only what has no judgement.
	must(t, s.StartJudging(ctx, sel, judge.ID, judgePrompt, 0))
	c, err := s.ClaimJudging(ctx, "w", storetest.Lease)
	must(t, err)
	if said[c.Evidence.Trajectory.ID].Outcome != relabel.JudgeInvalid {
		t.Errorf("judged again: %+v", c.Evidence.Trajectory)
	}
	_, err = s.ClaimJudging(ctx, "w", storetest.Lease)
	wantCode(t, err, relabel.CodeNotFound)
	progress, err := s.JudgeProgress(ctx, sel)
	must(t, err)
	if len(progress) != 1 || progress[0].Judgings[relabel.JudgingDone] != 2 || progress[0].Judgings[relabel.JudgingRunning] != 1 || progress[0].Outcomes[relabel.Judged] != 2 {
		t.Errorf("progress %+v", progress)
	}
	if p, err := s.FindJudgePrompt(ctx, judgePrompt.Hash); err != nil || p != judgePrompt {
		t.Errorf("prompt %+v, %v", p, err)
	}
}

// TestProgressOfJudgingsIsThatOfTheSelection judges a loop and two wrong solutions; one of these fails.
func TestProgressOfJudgingsIsThatOfTheSelection(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, d := failedTrajectories(t)
	judge := storetest.Policy(t, s, "judge")
	must(t, s.StartJudging(ctx, relabel.JudgeSelection{RunID: d.Run.ID}, judge.ID, judgePrompt, 0))
	failed := map[relabel.FailureMode]int{}
	for range 3 {
		c, err := s.ClaimJudging(ctx, "w", storetest.Lease)
		must(t, err)
		mode := c.Evidence.Trajectory.FailureMode
		if mode == relabel.ModeWrongSolution && failed[mode] == 0 {
			failed[mode]++
			must(t, s.FailJudging(ctx, c.JudgeFence, "no such model"))
			continue
		}
		must(t, s.FinishJudging(ctx, c.JudgeFence, judgement(relabel.ModeLoop)))
	}
	for _, c := range []struct {
		of           relabel.JudgeSelection
		done, failed int
	}{
		{relabel.JudgeSelection{}, 2, 1},
		{relabel.JudgeSelection{Modes: []relabel.FailureMode{relabel.ModeLoop}}, 1, 0},
		{relabel.JudgeSelection{Modes: []relabel.FailureMode{relabel.ModeWrongSolution}}, 1, 1},
		{relabel.JudgeSelection{Modes: []relabel.FailureMode{relabel.ModeLoop}, Sample: 1, Seed: 3}, 1, 0},
		{relabel.JudgeSelection{Sample: 3}, 2, 1},
	} {
		c.of.RunID = d.Run.ID
		progress, err := s.JudgeProgress(ctx, c.of)
		must(t, err)
		if len(progress) != 1 || progress[0].Judgings[relabel.JudgingDone] != c.done || progress[0].Judgings[relabel.JudgingFailed] != c.failed {
			t.Errorf("%+v: %+v", c.of, progress)
		}
		if got := relabel.ReasonText(progress[0].Reasons); c.failed == 1 && got != "1 x no such model" {
			t.Errorf("%+v: reasons %q", c.of, got)
		}
	}
}

func TestASampleOfJudgingsIsTheSameForTheSameSeed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, d := failedTrajectories(t)
	drawn := func(name string, seed int64) string {
		judge := storetest.Policy(t, s, name)
		must(t, s.StartJudging(ctx, relabel.JudgeSelection{RunID: d.Run.ID, Sample: 1, Seed: seed}, judge.ID, judgePrompt, 0))
		list, _, err := s.ListJudgings(ctx, relabel.JudgingFilter{PolicyID: &judge.ID}, relabel.Page{})
		must(t, err)
		if len(list) != 1 {
			t.Fatalf("%d judgings for a sample of one", len(list))
		}
		return list[0].InstanceID
	}
	seen := map[string]bool{}
	for seed := range int64(8) {
		name := string(rune('a' + seed))
		first := drawn(name, seed)
		if again := drawn("again-"+name, seed); again != first {
			t.Errorf("seed %d drew %s, then %s", seed, first, again)
		}
		seen[first] = true
	}
	if len(seen) < 2 {
		t.Errorf("eight seeds drew only %v", seen)
	}
}

func TestAJudgeThatWasReplacedWritesNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, d := failedTrajectories(t)
	judge := storetest.Policy(t, s, "judge")
	sel := relabel.JudgeSelection{RunID: d.Run.ID, Modes: []relabel.FailureMode{relabel.ModeLoop}}
	must(t, s.StartJudging(ctx, sel, judge.ID, judgePrompt, 0))
	dead, err := s.ClaimJudging(ctx, "dead", storetest.Lease)
	must(t, err)
	exec(t, s, "UPDATE judgings SET lease_until = clock_timestamp() - interval '1 second'")
	exec(t, s, "DELETE FROM river_job")
	must(t, s.WakeLabellers(ctx))
	must(t, s.WakeLabellers(ctx))
	if n := value[int](t, s, "SELECT count(*) FROM river_job WHERE kind = 'judge' AND queue = 'judge'"); n != 1 {
		t.Errorf("%d wake-ups for it", n)
	}
	next, err := s.ClaimJudging(ctx, "dead", storetest.Lease) // the same name: the claim tells them apart
	must(t, err)
	_, renewed := s.RenewJudging(ctx, dead.JudgeFence, storetest.Lease)
	for what, err := range map[string]error{"renew": renewed, "finish": s.FinishJudging(ctx, dead.JudgeFence, judgement(relabel.ModeLoop)),
		"fail": s.FailJudging(ctx, dead.JudgeFence, "x"), "release": s.ReleaseJudging(ctx, dead.JudgeFence)} {
		if relabel.CodeOf(err) != relabel.CodeLeaseLost {
			t.Errorf("a stale worker's %s: %v", what, err)
		}
	}
	contents, err := s.CountRun(ctx, d.Run.ID)
	must(t, err)
	if !strings.Contains(contents.Refused, "`relabel run judge RUN --policy judge@") {
		t.Errorf("a run that is being judged may be deleted: %+v", contents)
	}
	if n, err := s.CancelJudgings(ctx, sel, &judge.ID); err != nil || n != 1 {
		t.Errorf("%d cancelled, %v", n, err)
	}
	wantCode(t, s.FinishJudging(ctx, next.JudgeFence, judgement(relabel.ModeLoop)), relabel.CodeLeaseLost)
	must(t, s.StartJudging(ctx, sel, judge.ID, judgePrompt, 0))
	again, err := s.ClaimJudging(ctx, "w", storetest.Lease)
	must(t, err)
	wantCode(t, s.FinishJudging(ctx, again.JudgeFence, relabel.Judgement{Outcome: relabel.Judged}), relabel.CodeInvalid)
	must(t, s.FinishJudging(ctx, again.JudgeFence, judgement(relabel.ModeLoop)))
}
