package store_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// rolledOut claims a trajectory and commits its first turns: the student's labels are pending,
// but for turn 1's.
func rolledOut(t *testing.T, s *store.Store, turns int) relabel.Claim {
	t.Helper()
	c := storetest.Claim(t, s, storetest.Seed(t, s, 1).Trajectories[0].ID, "w")
	for k := 1; k <= turns; k++ {
		must(t, s.CommitTurn(context.Background(), c.Fence, storetest.Turn(c, k, nil)))
	}
	must(t, s.SettleLabel(context.Background(), c.Fence, 1, storetest.Received(c.Teacher.ID, "label 1")))
	return c
}

// said is what turns say, without their times.
func said(turns []relabel.Turn) []string {
	var all []string
	for _, turn := range turns {
		turn.StartedAt, turn.EndedAt = time.Time{}, time.Time{}
		line := fmt.Sprintf("%d %s %s %s %+v", turn.T, turn.Executor, turn.Action.Raw, turn.Tree, turn.Observations)
		if turn.Label != nil {
			line += fmt.Sprintf(" %s %s", turn.Label.Status, turn.Label.Raw)
		}
		all = append(all, line)
	}
	return all
}

func TestATakeoverGoesOnFromTheTurnsThatWereCommitted(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	c := rolledOut(t, s, 3)
	must(t, s.SetSandbox(ctx, c.Fence, "unix:///run/docker.sock", "box-1"))
	before, err := s.ListTurns(ctx, c.TrajectoryID, 1, 10)
	must(t, err)
	expire(t, s, c.TrajectoryID)
	next := storetest.Claim(t, s, c.TrajectoryID, "v")
	if next.Attempt != 2 || next.Trajectory.Trail != 1 || next.Trajectory.State != relabel.Running || next.Ending != nil || !slices.Equal(next.Abandoned, []string{"box-1"}) {
		t.Errorf("claim: %+v", next)
	}
	if !reflect.DeepEqual(said(next.Turns), said(before)) || len(before) != 3 {
		t.Errorf("the claim has %v, not %v", said(next.Turns), said(before))
	}
	shown, err := s.ListTurns(ctx, c.TrajectoryID, 1, 10) // before the replay is over, too
	must(t, err)
	if !reflect.DeepEqual(shown, before) {
		t.Errorf("shown are %v", said(shown))
	}
	wantCode(t, s.CommitTurn(ctx, next.Fence, storetest.Turn(next, 4, nil)), relabel.CodeConflict) // it has not adopted
	wantCode(t, s.EndRollout(ctx, next.Fence, relabel.Ending{Reason: relabel.EndFinish}), relabel.CodeConflict)
	wantCode(t, s.AdoptTurns(ctx, next.Fence, 2), relabel.CodeConflict)
	for range 2 { // adopting twice is once
		must(t, s.AdoptTurns(ctx, next.Fence, 1))
	}
	must(t, s.SettleLabel(ctx, next.Fence, 3, storetest.Received(c.Teacher.ID, "label 3")))
	must(t, s.CommitTurn(ctx, next.Fence, storetest.Turn(next, 4, nil)))
	wantCode(t, s.Diverge(ctx, next.Fence, 1, "too late"), relabel.CodeConflict)
	after, err := s.ListTurns(ctx, c.TrajectoryID, 1, 10)
	must(t, err)
	if len(after) != 4 || !reflect.DeepEqual(said(after[:2]), said(before[:2])) || after[2].Label.Message.Content != "label 3" {
		t.Errorf("turns: %v", said(after))
	}
	attempts, err := s.ListAttempts(ctx, c.TrajectoryID)
	must(t, err)
	if a := attempts[0]; a.Outcome != "lost" || a.ContinuedBy == nil || *a.ContinuedBy != 2 || attempts[1].ContinuedBy != nil {
		t.Errorf("attempts: %+v", attempts)
	}
	if n := value[int](t, s, "SELECT (SELECT count(*) FROM turns) + (SELECT count(*) FROM observations)"); n != 8 {
		t.Errorf("%d turns and observations are stored, not 8", n)
	}
}

func TestAnAttemptThatDiesInItsReplayChangesNothing(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	c := rolledOut(t, s, 4)
	tables := []string{"turns", "actions", "observations"}
	before := fingerprint(t, s, tables...)
	for range 3 {
		expire(t, s, c.TrajectoryID)
		c = storetest.Claim(t, s, c.TrajectoryID, "v")
		if len(c.Turns) != 4 || c.Trajectory.Trail != 1 || c.Trajectory.Turns != 4 {
			t.Fatalf("claim: %+v", c.Trajectory)
		}
	}
	if after := fingerprint(t, s, tables...); !reflect.DeepEqual(before, after) {
		t.Error("something changed")
	}
	must(t, s.AdoptTurns(context.Background(), c.Fence, 1))
	must(t, s.CommitTurn(context.Background(), c.Fence, storetest.Turn(c, 5, nil)))
}

func TestADivergedAttemptKeepsItsTurnsAndIsShownNoMore(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	c := rolledOut(t, s, 3)
	must(t, s.Release(ctx, c.Fence))
	next := storetest.Claim(t, s, c.TrajectoryID, "v")
	exec(t, s, "UPDATE trajectories SET fault = 'turn 4: x', faults = 2")
	for range 2 {
		must(t, s.Diverge(ctx, next.Fence, 1, "turn 2: the working tree is another one"))
	}
	wantCode(t, s.AdoptTurns(ctx, next.Fence, 1), relabel.CodeConflict)
	if n := value[int](t, s, "SELECT count(*) FROM trajectories WHERE fault IS NOT NULL OR faults > 0"); n != 0 {
		t.Error("the count of faults continues for discarded turns")
	}
	attempts, err := s.ListAttempts(ctx, c.TrajectoryID)
	must(t, err)
	if a := attempts[0]; a.Outcome != "diverged" || a.Reason != "turn 2: the working tree is another one" || a.ContinuedBy != nil {
		t.Errorf("attempt: %+v", a)
	}
	if n := value[int](t, s, "SELECT count(*) FROM turns WHERE attempt = 1"); n != 3 {
		t.Errorf("%d turns of the old attempt are kept", n)
	}
	if n := value[int](t, s, "SELECT count(*) FROM actions WHERE status = 'pending'"); n != 0 {
		t.Errorf("%d labels of discarded turns are pending", n)
	}
	expire(t, s, c.TrajectoryID)
	if again := storetest.Claim(t, s, c.TrajectoryID, "u"); len(again.Turns) != 0 || again.Trajectory.Turns != 0 {
		t.Errorf("the diverged turns are resumed: %v", said(again.Turns))
	} else {
		storetest.Finish(t, s, again, 2, true)
	}
	for e, err := range s.Exported(ctx, relabel.ExportSelection{RunID: c.Run.ID}) {
		must(t, err)
		if len(e.Turns) != 2 || e.Turns[0].Label.Message.Content != "label 1" {
			t.Errorf("exported: %v", said(e.Turns))
		}
	}
}

func TestARolloutThatWasOverGoesOnAtItsLabels(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, stage := range []relabel.TrajectoryState{relabel.Labelling, relabel.Verifying} {
		t.Run(string(stage), func(t *testing.T) {
			t.Parallel()
			s := storetest.New(t)
			c := rolledOut(t, s, 3)
			must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndFinish, Patch: []byte("the patch"), Submitted: true}))
			if stage == relabel.Verifying {
				must(t, s.SettleLabel(ctx, c.Fence, 3, storetest.Received(c.Teacher.ID, "label 3")))
				must(t, s.BeginVerifying(ctx, c.Fence))
			}
			must(t, s.Release(ctx, c.Fence))
			next := storetest.Claim(t, s, c.TrajectoryID, "v")
			if e := next.Ending; next.Trajectory.State != relabel.Labelling || e == nil || e.Reason != relabel.EndFinish || string(e.Patch) != "the patch" || !e.Submitted || len(next.Turns) != 3 || next.Trajectory.Trail != 2 {
				t.Fatalf("claim: %+v", next)
			}
			if stage == relabel.Labelling {
				must(t, s.SettleLabel(ctx, next.Fence, 3, storetest.Received(c.Teacher.ID, "label 3")))
			}
			must(t, s.BeginVerifying(ctx, next.Fence))
			must(t, s.Finish(ctx, next.Fence, relabel.Verdict{Passed: true, Reason: "passed"}))
			turns, err := s.ListTurns(ctx, c.TrajectoryID, 1, 10)
			must(t, err)
			if len(turns) != 3 || turns[2].Label.Message.Content != "label 3" {
				t.Errorf("turns: %v", said(turns))
			}
		})
	}
}

// A rollout whose first state was too long for its executor is over without a turn.
func TestARolloutThatWasOverWithoutATurnIsOver(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	c := storetest.Claim(t, s, storetest.Seed(t, s, 1).Trajectories[0].ID, "w")
	must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndContext}))
	must(t, s.Release(ctx, c.Fence))
	next := storetest.Claim(t, s, c.TrajectoryID, "v")
	must(t, s.BeginVerifying(ctx, next.Fence))
	must(t, s.Finish(ctx, next.Fence, relabel.Verdict{Reason: "empty_patch"}))
}

func TestATrajectoryThatEndsInItsReplayKeepsItsTurns(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, end := range map[string]func(*store.Store, relabel.Claim) error{
		"failed": func(s *store.Store, c relabel.Claim) error {
			return s.Fail(ctx, c.Fence, relabel.FailEnvironment, "the engine is gone")
		},
		"cancelled": func(s *store.Store, c relabel.Claim) error {
			_, err := s.CancelIteration(ctx, c.Iteration.ID)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := storetest.New(t)
			c := rolledOut(t, s, 3)
			must(t, s.Release(ctx, c.Fence))
			must(t, end(s, storetest.Claim(t, s, c.TrajectoryID, "v")))
			turns, err := s.ListTurns(ctx, c.TrajectoryID, 1, 10)
			must(t, err)
			if len(turns) != 3 || turns[0].Label.Status != relabel.Received || turns[2].Label.Status != relabel.Missing {
				t.Errorf("turns: %v", said(turns))
			}
			for e, err := range s.Exported(ctx, relabel.ExportSelection{RunID: c.Run.ID, Iteration: 1}) {
				must(t, err)
				if len(e.Turns) != 3 {
					t.Errorf("%d turns are exported", len(e.Turns))
				}
			}
		})
	}
}

func TestABrokenSandboxIsCountedAndTheNextClaimWaits(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	c := rolledOut(t, s, 2)
	must(t, s.ReleaseBroken(ctx, c.Fence, "the engine is gone", time.Hour, nil))
	_, err := s.Claim(ctx, c.TrajectoryID, "v", storetest.Lease)
	wantCode(t, err, relabel.CodeConflict)
	exec(t, s, "UPDATE trajectories SET claimable_at = clock_timestamp()")
	next := storetest.Claim(t, s, c.TrajectoryID, "v")
	if next.Trajectory.EnvironmentFailures != 1 || len(next.Turns) != 2 {
		t.Errorf("claim: %+v", next.Trajectory)
	}
	attempts, err := s.ListAttempts(ctx, c.TrajectoryID)
	must(t, err)
	if a := attempts[0]; a.Outcome != "environment" || a.Reason != "the engine is gone" {
		t.Errorf("attempt: %+v", a)
	}
	must(t, s.Release(ctx, next.Fence))
	expire(t, s, storetest.Claim(t, s, c.TrajectoryID, "u").TrajectoryID)
	if last := storetest.Claim(t, s, c.TrajectoryID, "t"); last.Trajectory.EnvironmentFailures != 1 {
		t.Errorf("a release or a lost worker was counted: %d", last.Trajectory.EnvironmentFailures)
	}
}

// The turns are the same rows before and after: their large values are not written again.
func TestAdoptingWritesNoLargeValueAgain(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	c := storetest.Claim(t, s, storetest.Seed(t, s, 1).Trajectories[0].ID, "w")
	for k := 1; k <= 6; k++ {
		turn := storetest.Turn(c, k, nil)
		noise := make([]byte, 64<<10)
		for i := range noise { // nothing that lz4 could shorten
			noise[i] = byte('!' + (uint32(i)*2654435761>>7^uint32(k*i))%90)
		}
		turn.Observations[0].Content = string(noise)
		must(t, s.CommitTurn(ctx, c.Fence, turn))
	}
	toast := func() int {
		return value[int](t, s, "SELECT pg_relation_size(reltoastrelid)::integer FROM pg_class WHERE oid = 'observations'::regclass")
	}
	before := toast()
	must(t, s.Release(ctx, c.Fence))
	next := storetest.Claim(t, s, c.TrajectoryID, "v")
	must(t, s.AdoptTurns(ctx, next.Fence, 1))
	if after := toast(); before < 100<<10 || after != before {
		t.Errorf("%d bytes of large values before, %d after", before, after)
	}
}

func TestPromptsSurviveATakeover(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	a := &asking{t: t, s: s}
	a.begin("TsTsT", sameStudent)
	grow := func(last *relabel.Action) []int32 {
		if last == nil {
			return []int32{1, 2}
		}
		return slices.Concat(last.PromptTokenIDs, last.TokenIDs, []int32{3})
	}
	for k := range 4 {
		a.commit(grow, []int32{int32(10 * k), int32(11 * k)})
	}
	a.settle(4, []int32{1, 2, 0, 0, 3, 77}, []int32{5})
	must(t, s.Release(ctx, a.c.Fence))
	a.c = storetest.Claim(t, s, a.c.TrajectoryID, "v")
	must(t, s.AdoptTurns(ctx, a.c.Fence, 1))
	a.settle(2, []int32{1, 2, 0, 0, 3}, []int32{6})
	a.commit(grow, []int32{9})
	a.check(t.Fatalf)
}
