package store_test

import (
	"context"
	"math"
	"reflect"
	"testing"
	"time"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// scoredBy stores a policy's scores of a trajectory's turns 1 and 3, as one scoring.
func scoredBy(t *testing.T, s *store.Store, d storetest.Seeded, policy relabel.ID, topK int, scores ...relabel.Score) {
	t.Helper()
	ctx := context.Background()
	must(t, s.StartScoring(ctx, relabel.ScoreSelection{RunID: d.Run.ID}, policy, topK, 0))
	c, err := s.ClaimScoring(ctx, "scorer", storetest.Lease)
	must(t, err)
	for i := range scores {
		scores[i].PolicyID, scores[i].TopK = policy, topK
	}
	must(t, s.SettleScores(ctx, c.ScoreFence, scores))
	must(t, s.ReleaseScoring(ctx, c.ScoreFence))
	_, err = s.CancelScorings(ctx, relabel.ScoreSelection{RunID: d.Run.ID}, &policy)
	must(t, err)
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > 1e-6 {
		t.Errorf("%s is %v, not %v", what, got, want)
	}
}

func TestDivergenceIsOfTurnsThatBothPoliciesScored(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.Seed(t, s, 1)
	sampledTrajectory(t, s, d)
	// Two tokens of turn 1, whose whole distributions over two tokens are known, and one of turn 3.
	half, quarter := float32(math.Log(0.5)), float32(math.Log(0.25))
	threeQuarters := float32(math.Log(0.75))
	scoredBy(t, s, d, d.Student.ID, 2,
		relabel.Score{T: 1, Logprobs: []float32{half, half}, TopIDs: []int32{1, 2, 1, 2}, TopLogprobs: []float32{half, half, half, half}},
		relabel.Score{T: 3, Logprobs: []float32{-1}, TopIDs: []int32{5, 6}, TopLogprobs: []float32{-1, -2}},
		relabel.Score{T: 5, Reason: "no ids"})
	scoredBy(t, s, d, d.Teacher.ID, 2,
		relabel.Score{T: 1, Logprobs: []float32{quarter, -9999}, TopIDs: []int32{2, 1, 2, 1}, TopLogprobs: []float32{threeQuarters, quarter, threeQuarters, quarter}},
		relabel.Score{T: 3, Reason: "too long"})
	all, err := s.ListDivergences(ctx, d.Run.ID, d.Teacher.ID)
	must(t, err)
	if len(all) != 1 {
		t.Fatalf("%d iterations", len(all))
	}
	got := all[0]
	if got.IterationID != d.Iteration.ID || got.Trajectories != 1 || got.Turns != 1 || got.Unscored != 2 || got.Tokens != 1 || got.Impossible != 1 || got.TopTokens != 1 {
		t.Errorf("%+v", got)
	}
	near(t, "k1", got.ByToken.K1.Mean, math.Log(2))
	near(t, "k3", got.ByToken.K3.Mean, 0.5-1+math.Log(2))
	near(t, "the bound", got.Top.Mean, 0.5*math.Log(0.5/0.25)+0.5*math.Log(0.5/0.75))
	if got.ByToken.K1.Low != nil {
		t.Error("one trajectory has an interval")
	}
	// The labels of storetest.Seed differ from all actions, which call nothing.
	if of := got.Agreement; of == nil || of.Compared != 3 || of.Agreed != 0 || of.LabelRule != relabel.LabelAll || len(of.Tools) != 1 || of.Tools[0] != (relabel.ToolAgreement{Compared: 3}) {
		t.Errorf("agreement %+v", got)
	}
	none, err := s.ListDivergences(ctx, d.Run.ID, storetest.Policy(t, s, "other").ID)
	must(t, err)
	if len(none) != 1 || none[0].ByToken != nil || none[0].Unscored != 3 || none[0].Agreement != nil {
		t.Errorf("a teacher without scores: %+v", none)
	}
}

// Tokens of an evaluation are the most probable ones: only the bound of whole distributions is of the
// divergence there. Samples are counted among those on the same tasks.
func TestAGreedyStudentHasOnlyTheBoundOfWholeDistributions(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.SeedWith(t, s, 1, func(d *storetest.Seeded) {
		d.Run.Recipe, d.Run.Beta = relabel.OPD, nil
		d.Iteration.Kind, d.Iteration.Beta = relabel.Evaluate, nil
		d.Trajectories[0].Executors = "ssssss"
	})
	c := storetest.Claim(t, s, d.Trajectories[0].ID, "roller")
	turn := storetest.Turn(c, 1, nil)
	turn.Label, turn.Action.PromptTokenIDs, turn.Action.TokenIDs = nil, []int32{1, 2}, []int32{10, 11}
	must(t, s.CommitTurn(ctx, c.Fence, turn))
	must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndMaxTurns}))
	must(t, s.BeginVerifying(ctx, c.Fence))
	must(t, s.Finish(ctx, c.Fence, relabel.Verdict{Reason: "no patch"}))
	half, quarter := float32(math.Log(0.5)), float32(math.Log(0.25))
	for policy, logprob := range map[relabel.ID]float32{d.Student.ID: half, d.Teacher.ID: quarter} {
		scoredBy(t, s, d, policy, 1, relabel.Score{T: 1, Logprobs: []float32{logprob, logprob}, TopIDs: []int32{1, 1}, TopLogprobs: []float32{logprob, logprob}})
	}
	sampleOf(t, s, d, 4, true, nil)
	sampleOf(t, s, d, 5, false, nil)
	sampleOf(t, s, d, 7, true, nil)
	all, err := s.ListDivergences(ctx, d.Run.ID, d.Teacher.ID)
	must(t, err)
	if len(all) != 4 {
		t.Fatalf("%d iterations", len(all))
	}
	if e := all[0]; !e.Greedy || e.ByToken != nil || e.ByTrajectory != nil || e.Tokens != 2 || e.Top == nil || e.Student != d.Student.Name+"@1" {
		t.Errorf("of the evaluation: %+v", e)
	}
	near(t, "the bound", all[0].Top.Mean, 0.5*math.Log(2)+0.5*math.Log(0.5/0.75))
	for i, round := range []int{1, 1, 2} {
		if it := all[i+1]; it.Round != round || it.Greedy || (it.BenchmarkID == nil) != (i == 1) {
			t.Errorf("sample %d is round %d, on %v, greedy %v", it.Number, it.Round, it.BenchmarkID, it.Greedy)
		}
	}
}

func TestScoresAreSummedOnceAndAgainAfterNewOnes(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.Seed(t, s, 1)
	sampledTrajectory(t, s, d)
	list := func() relabel.Divergence {
		t.Helper()
		all, err := s.ListDivergences(ctx, d.Run.ID, d.Teacher.ID)
		must(t, err)
		if len(all) != 1 {
			t.Fatalf("%d iterations", len(all))
		}
		return all[0]
	}
	scoredBy(t, s, d, d.Teacher.ID, 0, relabel.Score{T: 1, Logprobs: []float32{-2, -3}}, relabel.Score{T: 3, Logprobs: []float32{-5}})
	if got := list(); got.Turns != 0 || got.Trajectories != 0 || got.Unscored != 3 || got.ByToken != nil {
		t.Errorf("without scores of the student: %+v", got)
	}
	scoredBy(t, s, d, d.Student.ID, 0, relabel.Score{T: 1, Logprobs: []float32{-1, -1}})
	if got := list(); got.Turns != 1 || got.Tokens != 2 {
		t.Errorf("with a turn: %+v", got)
	}
	scoredBy(t, s, d, d.Student.ID, 0, relabel.Score{T: 3, Logprobs: []float32{-1}})
	want := list()
	if want.Turns != 2 || want.Unscored != 1 || want.Tokens != 3 {
		t.Errorf("with another turn: %+v", want)
	}
	near(t, "k1", want.ByToken.K1.Mean, (1+2+4)/3.0)

	exec(t, s, "DELETE FROM scores")
	if got := list(); !reflect.DeepEqual(got, want) {
		t.Errorf("scores are read again: %+v", got)
	}
	if none, err := s.ListDivergences(ctx, d.Run.ID, storetest.Policy(t, s, "other").ID); err != nil || none[0].ByToken != nil || none[0].Unscored != 3 {
		t.Errorf("sums of another teacher: %+v, %v", none, err)
	}
	exec(t, s, "DELETE FROM runs")
	all, err := s.ListDivergences(ctx, d.Run.ID, d.Teacher.ID)
	if must(t, err); len(all) != 0 {
		t.Errorf("of a run that is gone: %+v", all)
	}
}

// The sums of a large run can take minutes; those of others do not wait for them.
func TestSumsOfARunDoNotWaitForThoseOfAnother(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	slow, quick := storetest.Seed(t, s, 1), storetest.Seed(t, s, 1)
	for _, d := range []storetest.Seeded{slow, quick} {
		sampledTrajectory(t, s, d)
		scoredBy(t, s, d, d.Teacher.ID, 0, relabel.Score{T: 1, Logprobs: []float32{-2, -3}})
	}
	tx, err := s.Pool().Begin(ctx)
	must(t, err)
	_, err = tx.Exec(ctx, "SELECT FROM trajectories WHERE id = $1 FOR UPDATE", slow.Trajectories[0].ID)
	must(t, err)
	waiting := make(chan error, 1)
	go func() {
		_, err := s.ListDivergences(ctx, slow.Run.ID, slow.Teacher.ID)
		waiting <- err
	}()
	blocked(t, s, tx, 1)
	soon, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if _, err := s.ListDivergences(soon, quick.Run.ID, quick.Teacher.ID); err != nil {
		t.Errorf("the other run waits: %v", err)
	}
	must(t, tx.Rollback(ctx))
	must(t, <-waiting)
}
