package store_test

import (
	"context"
	"slices"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

func TestAnIterationKeepsWhatItRollsOut(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ctx := context.Background()
	d := storetest.Seed(t, s, 3)
	again := relabel.PlannedIteration{Iteration: d.Iteration}
	again.Iteration.ID, again.Iteration.Number, again.Iteration.Generations, again.Iteration.AgainID = relabel.NewID(), 2, 2, &d.Iteration.ID
	for _, task := range []relabel.Task{d.Tasks[2], d.Tasks[0]} {
		for g := range 2 {
			again.Trajectories = append(again.Trajectories, relabel.Trajectory{ID: relabel.NewID(), TaskID: task.ID, Generation: g, Executors: "s"})
		}
	}
	must(t, s.CreateIteration(ctx, again))
	it, _, err := s.FindIteration(ctx, again.Iteration.ID)
	must(t, err)
	if it.AgainID == nil || *it.AgainID != d.Iteration.ID {
		t.Errorf("it repeats the draw of %v", it.AgainID)
	}
	draw, err := s.FindDraw(ctx, it.ID)
	must(t, err)
	if want := []string{d.Tasks[0].InstanceID, d.Tasks[2].InstanceID}; !slices.Equal(draw.Instances, want) || draw.Generations != 2 || draw.TasksetID != d.Taskset.ID || draw.IterationID != it.ID {
		t.Errorf("its draw is %+v", draw)
	}
	_, err = s.FindDraw(ctx, relabel.NewID())
	wantCode(t, err, relabel.CodeNotFound)
}
