package store_test

import (
	"context"
	"testing"
	"time"

	"relabel"
	"relabel/store/storetest"
)

func TestABatchHoldsWhatIsOwedOnceAndHandsTheRestOn(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := seedDeferred(t, s, 2, relabel.LabelsBatch)
	rollOut(t, s, d.Trajectories[0].ID)
	_, err := s.ClaimBatch(ctx, "early", storetest.Lease)
	wantCode(t, err, relabel.CodeNotFound)
	second := endRollout(t, s, d.Trajectories[1].ID)
	must(t, s.BeginLabelling(ctx)) // while it is still held
	_, err = s.ClaimBatch(ctx, "early", storetest.Lease)
	wantCode(t, err, relabel.CodeNotFound)
	must(t, s.AwaitLabels(ctx, second.Fence))
	must(t, s.BeginLabelling(ctx)) // gathers nothing twice

	c, err := s.ClaimBatch(ctx, "labeller", storetest.Lease)
	must(t, err)
	if len(c.Items) != 6 || c.Batch.Round != 1 || c.Policy.ID != d.Teacher.ID || c.Run.ID != d.Run.ID {
		t.Fatalf("claim %+v", c)
	}
	_, err = s.ClaimBatch(ctx, "another", storetest.Lease)
	wantCode(t, err, relabel.CodeNotFound)

	must(t, s.SplitBatch(ctx, c.BatchFence, c.Items[5:]))
	must(t, s.KeepBatchFile(ctx, c.BatchFence, "file-1", c.Items[:5]))
	must(t, s.SendingBatch(ctx, c.BatchFence))
	must(t, s.SentBatch(ctx, c.BatchFence, "batch_1"))
	for _, item := range c.Items[:3] { // all of the first trajectory
		must(t, s.SettleBatched(ctx, c.BatchFence, item, storetest.Received(d.Teacher.ID, "label")))
		must(t, s.SettleBatched(ctx, c.BatchFence, item, storetest.Received(d.Teacher.ID, "label")))
	}
	must(t, s.EndBatch(ctx, c.BatchFence, relabel.BatchDone, "completed", "", 0))
	wantCode(t, s.SettleBatched(ctx, c.BatchFence, c.Items[3], storetest.Received(d.Teacher.ID, "stale")), relabel.CodeLeaseLost)

	if a, b := stateOf(t, s, c.Items[0].TrajectoryID), stateOf(t, s, c.Items[5].TrajectoryID); a != relabel.Queued || b != relabel.Labelling {
		t.Errorf("what has its labels is %s, what has not %s", a, b)
	}
	batches, err := s.ListBatches(ctx, d.Iteration.ID)
	must(t, err)
	if len(batches) != 3 {
		t.Fatalf("%d batches", len(batches))
	}
	if b := batches[0]; b.State != relabel.BatchDone || b.Labels != 5 || b.Received != 3 || b.Returned != 2 || b.RemoteID != "batch_1" || b.RemoteState != "completed" {
		t.Errorf("the first batch: %+v", b)
	}
	if a, b := batches[1], batches[2]; a.Labels != 1 || a.Round != 1 || b.Labels != 2 || b.Round != 2 {
		t.Errorf("the further batches: %+v, %+v", a, b)
	}
}

func TestABatchWhoseWorkerDiedGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := seedDeferred(t, s, 1, relabel.LabelsBatch)
	rollOut(t, s, d.Trajectories[0].ID)
	dead, err := s.ClaimBatch(ctx, "dead", storetest.Lease)
	must(t, err)
	must(t, s.SendingBatch(ctx, dead.BatchFence))
	must(t, s.SettleBatched(ctx, dead.BatchFence, dead.Items[0], storetest.Received(d.Teacher.ID, "label")))
	exec(t, s, "UPDATE label_batches SET lease_until = clock_timestamp() - interval '1 second'")
	next, err := s.ClaimBatch(ctx, "next", storetest.Lease)
	must(t, err)
	if next.Batch.State != relabel.BatchSending || len(next.Items) != 2 || next.Claim != dead.Claim+1 {
		t.Errorf("claim %+v", next)
	}
	for what, err := range map[string]error{
		"renew": s.RenewBatch(ctx, dead.BatchFence, time.Minute), "file": s.KeepBatchFile(ctx, dead.BatchFence, "f", dead.Items),
		"sending": s.SendingBatch(ctx, dead.BatchFence), "sent": s.SentBatch(ctx, dead.BatchFence, "b"),
		"put off": s.PutOffBatch(ctx, dead.BatchFence, "", "", 0), "split": s.SplitBatch(ctx, dead.BatchFence, dead.Items[1:]),
		"settle": s.SettleBatched(ctx, dead.BatchFence, dead.Items[1], storetest.Received(d.Teacher.ID, "stale")),
		"end":    s.EndBatch(ctx, dead.BatchFence, relabel.BatchDone, "", "", 0),
	} {
		if relabel.CodeOf(err) != relabel.CodeLeaseLost {
			t.Errorf("a stale worker's %s: %v", what, err)
		}
	}
	must(t, s.PutOffBatch(ctx, next.BatchFence, "in_progress", "", time.Hour))
	_, err = s.ClaimBatch(ctx, "soon", storetest.Lease)
	wantCode(t, err, relabel.CodeNotFound)
}
