package store_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// seedDeferred stores a run of n trajectories that asks for labels this way.
func seedDeferred(t testing.TB, s *store.Store, n int, mode relabel.LabelMode) storetest.Seeded {
	t.Helper()
	return storetest.SeedWith(t, s, n, func(d *storetest.Seeded) { d.Run.Labels = mode })
}

// rollOut takes a trajectory to the end of its rollout: six turns, three of which owe
// their label, and then to where it waits for them.
func rollOut(t testing.TB, s *store.Store, id relabel.ID) relabel.Claim {
	t.Helper()
	c := endRollout(t, s, id)
	must(t, s.AwaitLabels(context.Background(), c.Fence))
	return c
}

func endRollout(t testing.TB, s *store.Store, id relabel.ID) relabel.Claim {
	t.Helper()
	ctx := context.Background()
	c := storetest.Claim(t, s, id, "roller")
	for i := 1; i <= 6; i++ {
		must(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, i, nil)))
	}
	must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndFinish, Patch: []byte("diff"), Submitted: true}))
	return c
}

func stateOf(t testing.TB, s *store.Store, id relabel.ID) relabel.TrajectoryState {
	t.Helper()
	tr, err := s.FindTrajectory(context.Background(), id)
	must(t, err)
	return tr.State
}

func TestLabellingBeginsWithTheEndOfTheLastRollout(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := seedDeferred(t, s, 2, relabel.LabelsDeferred)
	first := rollOut(t, s, d.Trajectories[0].ID)
	if state := stateOf(t, s, first.TrajectoryID); state != relabel.Labelling {
		t.Fatalf("while another is rolled out it is %s", state)
	}
	must(t, s.BeginLabelling(ctx)) // a look changes nothing
	if _, err := s.Claim(ctx, first.TrajectoryID, "early", storetest.Lease); relabel.CodeOf(err) != relabel.CodeConflict {
		t.Fatalf("claimed while it waits: %v", err)
	}
	wantCode(t, s.SettleLabel(ctx, first.Fence, 1, storetest.Received(d.Teacher.ID, "late")), relabel.CodeLeaseLost)
	_, err := s.RecoverAbandoned(ctx, func(string) bool { return true })
	must(t, err)
	if state := stateOf(t, s, first.TrajectoryID); state != relabel.Labelling {
		t.Fatalf("a look for dead workers made it %s", state)
	}

	rollOut(t, s, d.Trajectories[1].ID)
	it, progress, err := s.FindIteration(ctx, d.Iteration.ID)
	must(t, err)
	if it.LabellingSince == nil || progress.Trajectories[relabel.Queued] != 2 || progress.LabelsPending != 6 {
		t.Fatalf("iteration %+v, %+v", it, progress)
	}
	c := storetest.Claim(t, s, first.TrajectoryID, "labeller")
	if c.Ending == nil || c.Attempt != 2 || len(c.Turns) != 6 || c.Trajectory.State != relabel.Labelling || c.Iteration.LabellingSince == nil {
		t.Fatalf("claim %+v", c)
	}
	for _, turn := range []int{1, 3, 5} {
		must(t, s.SettleLabel(ctx, c.Fence, turn, storetest.Received(d.Teacher.ID, fmt.Sprint("label ", turn))))
	}
	must(t, s.BeginVerifying(ctx, c.Fence))
	must(t, s.Finish(ctx, c.Fence, relabel.Verdict{Passed: true, Reason: "passed"}))
}

func TestLabellingBegunByHandDoesNotWaitForTheOthers(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := seedDeferred(t, s, 2, relabel.LabelsDeferred)
	rollOut(t, s, d.Trajectories[0].ID)
	it, err := s.LabelIteration(ctx, d.Iteration.ID)
	must(t, err)
	if it.LabellingSince == nil || stateOf(t, s, d.Trajectories[0].ID) != relabel.Queued {
		t.Errorf("labelling since %v, the trajectory is %s", it.LabellingSince, stateOf(t, s, d.Trajectories[0].ID))
	}
	beside := storetest.Seed(t, s, 1)
	_, err = s.LabelIteration(ctx, beside.Iteration.ID)
	wantCode(t, err, relabel.CodeConflict)
}

// Whoever ends last begins the labelling, whoever that is: many end at the same moment.
func TestManyRolloutsThatEndTogetherBeginTheLabelling(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	d := seedDeferred(t, s, 8, relabel.LabelsDeferred)
	var all sync.WaitGroup
	for _, tr := range d.Trajectories {
		all.Go(func() { rollOut(t, s, tr.ID) })
	}
	all.Wait()
	for _, tr := range d.Trajectories {
		if state := stateOf(t, s, tr.ID); state != relabel.Queued {
			t.Errorf("%s", state)
		}
	}
}

// A worker that dies between letting go of the last trajectory and beginning the
// labelling is made good by the next look.
func TestALookBeginsTheLabellingThatADeadWorkerOwed(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := seedDeferred(t, s, 2, relabel.LabelsDeferred)
	rollOut(t, s, d.Trajectories[0].ID)
	c := storetest.Claim(t, s, d.Trajectories[1].ID, "fails")
	must(t, s.Fail(ctx, c.Fence, relabel.FailEndpoint, "HTTP 500")) // which begins nothing
	must(t, s.BeginLabelling(ctx))
	if state := stateOf(t, s, d.Trajectories[0].ID); state != relabel.Queued {
		t.Errorf("it is %s", state)
	}
}

func TestACancelledIterationLabelsNothing(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := seedDeferred(t, s, 2, relabel.LabelsBatch)
	rollOut(t, s, d.Trajectories[0].ID)
	rollOut(t, s, d.Trajectories[1].ID)
	_, err := s.CancelIteration(ctx, d.Iteration.ID)
	must(t, err)
	c, err := s.ClaimBatch(ctx, "labeller", storetest.Lease)
	must(t, err)
	if len(c.Items) != 0 || c.Batch.Labels != 6 {
		t.Errorf("%d of %d labels are still wanted", len(c.Items), c.Batch.Labels)
	}
	item := relabel.BatchItem{TrajectoryID: d.Trajectories[0].ID, Attempt: 1, T: 1}
	must(t, s.SettleBatched(ctx, c.BatchFence, item, storetest.Received(d.Teacher.ID, "too late")))
	turns, err := s.ListTurns(ctx, d.Trajectories[0].ID, 1, 1)
	must(t, err)
	if turns[0].Label.Status != relabel.Missing {
		t.Errorf("the label of a cancelled trajectory is %s", turns[0].Label.Status)
	}
	must(t, s.EndBatch(ctx, c.BatchFence, relabel.BatchCancelled, "", "", time.Minute))
	batches, err := s.ListBatches(ctx, d.Iteration.ID)
	must(t, err)
	if len(batches) != 1 || batches[0].State != relabel.BatchCancelled {
		t.Errorf("batches %+v", batches)
	}
}
