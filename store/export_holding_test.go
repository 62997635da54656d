package store_test

import (
	"context"
	"fmt"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

func TestExportsThatHoldATrajectoryAreListedWithItsPart(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := rounds(t, s)
	var made []relabel.ID
	for range 3 {
		e := relabel.Export{ID: relabel.NewID(), Destination: "s3://b", Selection: relabel.ExportSelection{RunID: d.Run.ID, Aggregated: true}}
		must(t, s.CreateExport(ctx, e))
		must(t, s.CutExport(ctx, e.ID, 1)) // a trajectory a part
		made = append(made, e.ID)
	}
	finish := func(id relabel.ID) (parts int) {
		e, err := s.FindExport(ctx, id)
		must(t, err)
		for n := range e.Parts {
			p, err := s.FindExportPart(ctx, id, n)
			must(t, err)
			left := fmt.Sprintf(`{"reason":"label_missing","trajectory":%q,"turn":1,"states":1,"detail":"\u0000"}`+"\n", p.Trajectories[0].ID)
			left += fmt.Sprintf(`{"reason":"benchmark","trajectory":%q,"turn":null,"states":2,"detail":"verified"}`+"\n", p.Trajectories[0].ID)
			must(t, s.FinishExportPart(ctx, id, n, []byte("{}"), []byte(left)))
		}
		must(t, s.FinishExport(ctx, e))
		return e.Parts
	}
	parts := finish(made[0])
	finish(made[1]) // the third is not done
	for n := range parts {
		part, err := s.FindExportPart(ctx, made[1], n)
		must(t, err)
		id := part.Trajectories[0].ID
		holding, err := s.ListHolding(ctx, d.Run.ID, id, 10)
		must(t, err)
		if len(holding) != 2 || holding[0].Export.ID != made[1] || holding[1].Export.ID != made[0] || holding[0].Part != n || holding[1].Part != n || holding[0].Export.State != relabel.ExportDone {
			t.Errorf("part %d: %+v", n, holding)
		}
		if newest, err := s.ListHolding(ctx, d.Run.ID, id, 1); err != nil || len(newest) != 1 || newest[0].Export.ID != made[1] {
			t.Errorf("of the newest alone: %+v, %v", newest, err)
		}
	}
	selected, err := s.CountSelected(ctx, made[1])
	must(t, err)
	n := 0
	for i, it := range selected {
		n += it.Trajectories
		if it.Number != selected[0].Number+i || it.Turns < it.Labels || it.Excluded["label_missing"] != it.Trajectories || it.Excluded["benchmark:verified"] != 2*it.Trajectories || it.Left() != it.Turns-3*it.Trajectories {
			t.Errorf("selected: %+v", selected)
		}
	}
	if n != parts || len(selected) < 2 {
		t.Errorf("%d trajectories of %d: %+v", n, parts, selected)
	}
	if none, err := s.ListHolding(ctx, d.Run.ID, relabel.NewID(), 10); err != nil || len(none) != 0 {
		t.Errorf("of another trajectory: %v, %v", none, err)
	}
}
