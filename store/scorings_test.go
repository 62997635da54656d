package store_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// sampledTrajectory finishes the first trajectory of a seeded run: six turns, whose prompts and samples
// have ids at all turns of the student but the last one.
func sampledTrajectory(t testing.TB, s *store.Store, d storetest.Seeded) (id relabel.ID, students []int) {
	t.Helper()
	ctx := context.Background()
	c := storetest.Claim(t, s, d.Trajectories[0].ID, "roller")
	for i := 1; i <= 6; i++ {
		label := storetest.Received(c.Teacher.ID, fmt.Sprintf("label %d", i))
		turn := storetest.Turn(c, i, &label)
		if turn.Executor == relabel.Student {
			students = append(students, i)
			turn.Action.PromptTokenIDs = []int32{1, 2, int32(i)}
			turn.Action.TokenIDs = []int32{int32(10 * i), int32(10*i + 1)}
		}
		if i >= 5 {
			turn.Action.PromptTokenIDs, turn.Action.TokenIDs = nil, nil
		}
		must(t, s.CommitTurn(ctx, c.Fence, turn))
	}
	must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndFinish, Patch: []byte("diff --git a/a b/a\n"), Submitted: true}))
	must(t, s.BeginVerifying(ctx, c.Fence))
	must(t, s.Finish(ctx, c.Fence, relabel.Verdict{Passed: true, Reason: "tests",
		Tests: map[string]relabel.TestStatus{"tests/test_a.py::test_it": relabel.TestPassed}, Output: []byte("1 passed")}))
	return c.TrajectoryID, students
}

func scoreOf(policy relabel.ID, t int) relabel.Score {
	return relabel.Score{T: t, PolicyID: policy, Logprobs: []float32{-0.25, -float32(t)}, TopK: 2,
		TopIDs: []int32{int32(10 * t), 7, 8, 9}, TopLogprobs: []float32{-0.25, -2, -1, -1.5}}
}

func TestScoresOfTheStudentsTurnsAreStoredAsTheyWereGiven(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.Seed(t, s, 1)
	id, students := sampledTrajectory(t, s, d)
	other := storetest.Policy(t, s, "other")
	sel := relabel.ScoreSelection{RunID: d.Run.ID, IterationID: &d.Iteration.ID}
	e, err := s.EstimateScoring(ctx, sel, other, 2)
	must(t, err)
	if e.Trajectories != 1 || e.Turns != len(students) || e.WithoutIDs != 1 || e.Tokens != 4 || e.Bytes != 80 || e.MostPrompt != 10 || e.LeastPrompt != 5 {
		t.Errorf("estimate %+v", e)
	}
	must(t, s.StartScoring(ctx, sel, other.ID, 2, 5))
	must(t, s.StartScoring(ctx, sel, other.ID, 2, 5))
	wantCode(t, s.StartScoring(ctx, sel, other.ID, 3, 0), relabel.CodeConflict)

	c, err := s.ClaimScoring(ctx, "scorer", storetest.Lease)
	must(t, err)
	if len(c.Pending) != len(students) || c.Policy.ID != other.ID || c.TopK != 2 || len(c.Students) != 1 || c.Students[0].ID != d.Iteration.StudentID {
		t.Fatalf("claim %+v", c)
	}
	for i, turn := range c.Pending {
		want := relabel.ScoreTurn{T: students[i], PolicyID: d.Iteration.StudentID, PromptIDs: []int32{1, 2, int32(turn.T)}, TokenIDs: []int32{int32(10 * turn.T), int32(10*turn.T + 1)}}
		if turn.T >= 5 {
			want.PromptIDs, want.TokenIDs = nil, nil
		}
		if !reflect.DeepEqual(turn, want) {
			t.Errorf("pending %+v, want %+v", turn, want)
		}
	}
	var want []relabel.Score
	for _, turn := range students[:len(students)-1] {
		want = append(want, scoreOf(other.ID, turn))
	}
	last := relabel.Score{T: students[len(students)-1], PolicyID: other.ID, Reason: "the server gave no ids"}
	want = append(want, last)
	must(t, s.SettleScores(ctx, c.ScoreFence, want))
	must(t, s.SettleScores(ctx, c.ScoreFence, want[:1]))
	short := scoreOf(other.ID, 1)
	short.TopIDs = short.TopIDs[:3]
	wantCode(t, s.SettleScores(ctx, c.ScoreFence, []relabel.Score{short}), relabel.CodeInvalid)
	wantCode(t, s.SettleScores(ctx, c.ScoreFence, []relabel.Score{scoreOf(d.Teacher.ID, 1)}), relabel.CodeInvalid)
	must(t, s.FinishScoring(ctx, c.ScoreFence))

	scores, err := s.ListScores(ctx, id, other.ID)
	must(t, err)
	if !reflect.DeepEqual(scores, want) {
		t.Errorf("scores %+v\nwant %+v", scores, want)
	}
	none, err := s.ListScores(ctx, id, d.Teacher.ID)
	must(t, err)
	if len(none) != 0 {
		t.Errorf("a policy that was not asked has scores %+v", none)
	}
	all, _, err := s.ListScorings(ctx, relabel.ScoringFilter{TrajectoryID: &id}, relabel.Page{})
	must(t, err)
	n := len(students)
	if len(all) != 1 || all[0].State != relabel.ScoringDone || all[0].Received != n-1 || all[0].Missing != 1 || all[0].Tokens != int64(2*(n-1)) || all[0].Priority != 5 {
		t.Errorf("scorings %+v", all)
	}

	// Another request scores only what is missing.
	must(t, s.StartScoring(ctx, sel, other.ID, 2, 0))
	c, err = s.ClaimScoring(ctx, "scorer", storetest.Lease)
	must(t, err)
	if len(c.Pending) != 1 || c.Pending[0].T != last.T {
		t.Errorf("pending: %+v", c.Pending)
	}
}

func TestAScorerThatWasReplacedWritesNothing(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.Seed(t, s, 1)
	sel := relabel.ScoreSelection{RunID: d.Run.ID}
	other := storetest.Policy(t, s, "other")
	wantCode(t, s.StartScoring(ctx, sel, other.ID, 0, 0), relabel.CodeConflict) // nothing is done
	_, students := sampledTrajectory(t, s, d)
	must(t, s.StartScoring(ctx, sel, other.ID, 2, 0))
	dead, err := s.ClaimScoring(ctx, "dead", storetest.Lease)
	must(t, err)
	must(t, s.SettleScores(ctx, dead.ScoreFence, []relabel.Score{scoreOf(other.ID, students[0])}))
	_, err = s.ClaimScoring(ctx, "another", storetest.Lease)
	wantCode(t, err, relabel.CodeNotFound)
	exec(t, s, "UPDATE scorings SET lease_until = clock_timestamp() - interval '1 second'")
	exec(t, s, "DELETE FROM river_job")
	must(t, s.WakeLabellers(ctx))
	must(t, s.WakeLabellers(ctx))
	if n := value[int](t, s, "SELECT count(*) FROM river_job WHERE kind = 'score'"); n != 1 {
		t.Errorf("%d wake-ups for it", n)
	}
	next, err := s.ClaimScoring(ctx, "dead", storetest.Lease)
	must(t, err)
	if len(next.Pending) != len(students)-1 {
		t.Errorf("pending: %+v", next.Pending)
	}
	_, renewed := s.RenewScoring(ctx, dead.ScoreFence, storetest.Lease)
	for what, err := range map[string]error{
		"renew": renewed, "settle": s.SettleScores(ctx, dead.ScoreFence, []relabel.Score{scoreOf(other.ID, students[1])}),
		"finish": s.FinishScoring(ctx, dead.ScoreFence), "fail": s.FailScoring(ctx, dead.ScoreFence, "x"), "release": s.ReleaseScoring(ctx, dead.ScoreFence),
	} {
		if relabel.CodeOf(err) != relabel.CodeLeaseLost {
			t.Errorf("a stale worker's %s: %v", what, err)
		}
	}
	contents, err := s.CountRun(ctx, d.Run.ID)
	must(t, err)
	if !strings.Contains(contents.Refused, "`relabel run score RUN --policy other@") {
		t.Errorf("a run that is being scored may be deleted: %+v", contents)
	}
	cancelled, err := s.CancelScorings(ctx, sel, &other.ID)
	must(t, err)
	wantCode(t, s.SettleScores(ctx, next.ScoreFence, []relabel.Score{scoreOf(other.ID, students[1])}), relabel.CodeLeaseLost)
	progress, err := s.ScoreProgress(ctx, sel)
	must(t, err)
	if cancelled != 1 || len(progress) != 1 || progress[0].Received != 1 || progress[0].Scorings[relabel.ScoringCancelled] != 1 || progress[0].Tokens != 2 {
		t.Errorf("%d cancelled, progress %+v", cancelled, progress)
	}
}

func wantScoreReasons(t *testing.T, s *store.Store, sel relabel.ScoreSelection, want relabel.ReasonCount) {
	t.Helper()
	progress, err := s.ScoreProgress(t.Context(), sel)
	must(t, err)
	if len(progress) != 1 || !slices.Equal(progress[0].Reasons, []relabel.ReasonCount{want}) {
		t.Errorf("progress %+v, want %+v", progress, want)
	}
}

func TestAScoringWithoutScoresIsRepeatedWithAnotherTopK(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.Seed(t, s, 1)
	id, students := sampledTrajectory(t, s, d)
	other := storetest.Policy(t, s, "other")
	sel := relabel.ScoreSelection{RunID: d.Run.ID}
	must(t, s.StartScoring(ctx, sel, other.ID, 20, 0))
	wantCode(t, s.StartScoring(ctx, sel, other.ID, 2, 0), relabel.CodeConflict) // it is queued
	c, err := s.ClaimScoring(ctx, "scorer", storetest.Lease)
	must(t, err)
	wantCode(t, s.StartScoring(ctx, sel, other.ID, 2, 0), relabel.CodeConflict) // it is running
	var missing []relabel.Score
	for _, turn := range students {
		missing = append(missing, relabel.Score{T: turn, PolicyID: other.ID, Reason: "the server allows 5 log-probabilities"})
	}
	must(t, s.SettleScores(ctx, c.ScoreFence, missing))
	must(t, s.FinishScoring(ctx, c.ScoreFence))
	wantScoreReasons(t, s, sel, relabel.ReasonCount{Reason: "the server allows 5 log-probabilities", Count: len(students)})

	must(t, s.StartScoring(ctx, sel, other.ID, 2, 0))
	c, err = s.ClaimScoring(ctx, "scorer", storetest.Lease)
	must(t, err)
	if c.TopK != 2 || len(c.Pending) != len(students) {
		t.Fatalf("claim with top_k %d and %d turns", c.TopK, len(c.Pending))
	}
	must(t, s.SettleScores(ctx, c.ScoreFence, []relabel.Score{scoreOf(other.ID, students[0])}))
	must(t, s.FailScoring(ctx, c.ScoreFence, "gone"))
	wantScoreReasons(t, s, sel, relabel.ReasonCount{Reason: "gone", Count: len(students) - 1})
	wantCode(t, s.StartScoring(ctx, sel, other.ID, 20, 0), relabel.CodeConflict) // it has a score
	all, err := s.ListScores(ctx, id, other.ID)
	must(t, err)
	if len(all) != 1 || all[0].TopK != 2 {
		t.Errorf("scores %+v", all)
	}
}
