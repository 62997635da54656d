package store_test

import (
	"context"
	"reflect"
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

func TestARunsWalksAreListedByKindInTheirOrder(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ctx := context.Background()
	d := storetest.Seed(t, s, 3) // its first iteration drew anew
	var want []relabel.WalkedDraw
	for i, kind := range []relabel.IterationKind{relabel.Collect, relabel.Sample, relabel.Collect} {
		p := relabel.PlannedIteration{Iteration: d.Iteration}
		walk := relabel.Walk{Permutation: i + 1, Restarted: i == 2, Drawn: 1, Of: 3}
		p.Iteration.ID, p.Iteration.Kind, p.Iteration.Number, p.Iteration.Walk = relabel.NewID(), kind, i+2, &walk
		if kind != relabel.Collect {
			p.Iteration.Beta = nil
		}
		for g := range 2 {
			p.Trajectories = append(p.Trajectories, relabel.Trajectory{ID: relabel.NewID(), TaskID: d.Tasks[i].ID, Generation: g, Executors: "s"})
		}
		must(t, s.CreateIteration(ctx, p))
		it, _, err := s.FindIteration(ctx, p.Iteration.ID)
		must(t, err)
		if it.Walk == nil || *it.Walk != walk {
			t.Errorf("walk %+v, want %+v", it.Walk, walk)
		}
		if kind == relabel.Collect {
			want = append(want, relabel.WalkedDraw{Walk: walk, Instances: []string{d.Tasks[i].InstanceID}})
		}
	}
	got, err := s.ListWalked(ctx, d.Run.ID, relabel.Collect)
	must(t, err)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
