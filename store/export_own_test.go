package store_test

import (
	"context"
	"slices"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

// TestASampleIsExportedWithTheStudentsActionsAndTheirScores: labels are the executed actions with
// the ids of the server, beside what teacher and student scored.
func TestASampleIsExportedWithTheStudentsActionsAndTheirScores(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.SeedWith(t, s, 1, func(d *storetest.Seeded) {
		samples(2)(d)
		d.Run.Recipe = relabel.OPD
	})
	for i, tr := range d.Trajectories {
		c := storetest.Claim(t, s, tr.ID, "w")
		for turn := 1; turn <= 2; turn++ {
			executed := relabel.Turn{T: turn, Executor: relabel.Student, Tree: "tree", Action: storetest.Received(d.Student.ID, "own"),
				Observations: []relabel.Observation{{Content: "seen"}}}
			executed.Action.PromptTokenIDs, executed.Action.TokenIDs = []int32{1, int32(turn)}, []int32{int32(10 * turn), 9}
			must(t, s.CommitTurn(ctx, c.Fence, executed))
		}
		must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndFinish, Patch: []byte("diff --git a/a b/a\n"), Submitted: i == 0}))
		must(t, s.BeginVerifying(ctx, c.Fence))
		must(t, s.Finish(ctx, c.Fence, relabel.Verdict{Passed: i == 0, Reason: "tests", Output: []byte("tests")}))
	}
	sel := relabel.ExportSelection{RunID: d.Run.ID, MixedRewards: true}
	for _, policy := range []relabel.ID{d.Teacher.ID, d.Student.ID} {
		must(t, s.StartScoring(ctx, relabel.ScoreSelection{RunID: d.Run.ID}, policy, 0, 0))
		for range d.Trajectories {
			c, err := s.ClaimScoring(ctx, "scorer", storetest.Lease)
			must(t, err)
			first := relabel.Score{T: 1, PolicyID: policy, Logprobs: []float32{-0.5, -1}}
			last := relabel.Score{T: 2, PolicyID: policy, Reason: "the server was down"}
			must(t, s.SettleScores(ctx, c.ScoreFence, []relabel.Score{first, last}))
		}
	}
	exported := 0
	for e, err := range s.Exported(ctx, sel) {
		must(t, err)
		exported++
		for i, turn := range e.Turns {
			if turn.Label == nil || turn.Label.PolicyID != d.Student.ID || !slices.Equal(turn.Label.TokenIDs, []int32{int32(10 * (i + 1)), 9}) {
				t.Errorf("turn %d has the label %+v", turn.T, turn.Label)
			}
		}
		if !slices.Equal(e.StudentScores[1], []float32{-0.5, -1}) || !slices.Equal(e.TeacherScores[1], []float32{-0.5, -1}) || len(e.StudentScores)+len(e.TeacherScores) != 2 {
			t.Errorf("scores %v, %v", e.StudentScores, e.TeacherScores)
		}
		if !slices.Equal(e.Group.Rewards, []float64{0, 1}) || e.Teacher.ID != d.Teacher.ID {
			t.Errorf("group %+v, teacher %s", e.Group, e.Teacher.ID)
		}
	}
	if exported != 2 {
		t.Errorf("%d trajectories", exported)
	}
}
