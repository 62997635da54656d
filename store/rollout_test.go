package store_test

import (
	"context"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

func TestATrajectoryGoesFromQueuedToDone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 1)
	c := storetest.Claim(t, s, d.Trajectories[0].ID, "worker-1")
	if c.Attempt != 1 || c.Trajectory.State != relabel.Running || c.Student.ID != d.Student.ID || c.Teacher.ID != d.Teacher.ID || c.Task.InstanceID != d.Tasks[0].InstanceID {
		t.Fatalf("claim: %+v", c)
	}
	must(t, s.SetSandbox(ctx, c.Fence, "unix:///docker.sock", "c1"))
	must(t, renew(s, c.Fence))
	storetest.Finish(t, s, c, 4, true)
	tr, err := s.FindTrajectory(ctx, c.TrajectoryID)
	must(t, err)
	if tr.State != relabel.Done || tr.Turns != 4 || tr.EndReason != relabel.EndFinish || tr.Resolved == nil || !*tr.Resolved || *tr.Agreement != 0 {
		t.Fatalf("trajectory: %+v", tr)
	}
	it, progress, err := s.FindIteration(ctx, d.Iteration.ID)
	must(t, err)
	if it.State != relabel.IterationDone || it.EndedAt == nil {
		t.Errorf("iteration: %+v", it)
	}
	if progress.LabelsReceived != 4 || progress.TeacherTurns != 2 || progress.Turns != 4 || progress.Resolved != 1 || progress.Trajectories[relabel.Done] != 1 {
		t.Errorf("progress: %+v", progress)
	}
}
