package store_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"relabel"
	"relabel/conversations"
	"relabel/store"
	"relabel/store/storetest"
)

// stepsOf counts the queued steps of an export, and clears them.
func stepsOf(t *testing.T, s *store.Store, id relabel.ID) map[string]int {
	t.Helper()
	steps := map[string]int{}
	for _, step := range []string{"cut", "sign", "compare", "build", "finish"} {
		if n := value[int](t, s, "SELECT count(*) FROM river_job WHERE kind = 'export' AND args->>'export_id' = $1 AND args->>'step' = $2", id.String(), step); n > 0 {
			steps[step] = n
		}
	}
	exec(t, s, "DELETE FROM river_job WHERE kind = 'export'")
	return steps
}

// TestAMixIsComparedBeforeItsPartsAreBuilt: the steps follow each other, and a lost one is queued again.
func TestAMixIsComparedBeforeItsPartsAreBuilt(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	a, b := storetest.Seed(t, s, 1), storetest.Seed(t, s, 2)
	for _, tr := range append(a.Trajectories, b.Trajectories...) {
		storetest.Finish(t, s, storetest.Claim(t, s, tr.ID, "w"), 3, true)
	}
	other := relabel.ExportSelection{RunID: b.Run.ID, Iteration: 1}
	e := relabel.Export{ID: relabel.NewID(), State: relabel.ExportQueued, Selection: relabel.ExportSelection{RunID: a.Run.ID, Iteration: 1},
		Form: relabel.ExportForm{Views: []relabel.View{relabel.ViewMessages}}, Directory: "/x", FolderID: "f",
		Mix: &relabel.Mix{Unique: true, Sources: []relabel.MixSource{{Selection: other}, {Selection: other, Weights: relabel.LabelWeights{Weight: new(2.0)}}}}}
	must(t, s.CreateExport(ctx, e))
	if n := stepsOf(t, s, e.ID); !reflect.DeepEqual(n, map[string]int{"cut": 1}) {
		t.Errorf("at first %v", n)
	}
	must(t, s.CutExport(ctx, e.ID, 1))
	if got, err := s.FindExport(ctx, e.ID); err != nil || !reflect.DeepEqual(got.Mix, e.Mix) || got.Parts != 4 { // b's trajectories are cut once; the last source has an empty part
		t.Errorf("%+v, %v", got, err)
	}
	for number, source := range []int{0, 1, 1, 2} {
		if p, err := s.FindExportPart(ctx, e.ID, number); err != nil || p.Source != source || len(p.Trajectories) != min(1, 3-number) {
			t.Errorf("part %d: %+v, %v", number, p, err)
		}
	}
	due := func(want map[string]int) {
		t.Helper()
		if n := stepsOf(t, s, e.ID); !reflect.DeepEqual(n, want) {
			t.Errorf("queued are %v, want %v", n, want)
		}
		_, err := s.RecoverAbandoned(ctx, nil)
		must(t, err)
		if n := stepsOf(t, s, e.ID); !reflect.DeepEqual(n, want) {
			t.Errorf("queued again are %v, want %v", n, want)
		}
	}
	due(map[string]int{"sign": 4})
	for part := range 3 {
		must(t, s.SignExportPart(ctx, e.ID, part, []byte{byte(part)}))
	}
	must(t, s.SignExportPart(ctx, e.ID, 3, nil)) // it has no labels
	due(map[string]int{"compare": 1})
	n := byte(0)
	for signed, err := range s.ExportSignatures(ctx, e.ID) {
		must(t, err)
		if n < 3 && (len(signed) != 1 || signed[0] != n) || n == 3 && len(signed) != 0 {
			t.Errorf("part %d: %v", n, signed)
		}
		n++
	}
	counts := []relabel.ComparedLabels{{Labels: 3}, {Labels: 6, Duplicates: 1}, {}}
	dropped := []relabel.DroppedLabel{{Trajectory: 0, Turn: 2, Reason: "duplicate"}}
	must(t, s.FinishComparison(ctx, e.ID, counts, map[int][]relabel.DroppedLabel{1: dropped}))
	must(t, s.FinishComparison(ctx, e.ID, nil, nil)) // by a worker that was slower
	must(t, s.SignExportPart(ctx, e.ID, 0, nil))
	due(map[string]int{"build": 4})
	if p, err := s.FindExportPart(ctx, e.ID, 1); err != nil || !reflect.DeepEqual(p.Dropped, dropped) {
		t.Errorf("%+v, %v", p, err)
	}
	counts[2].Overlapping = 2 // its trajectories are those of the source before it
	if got, err := s.FindExport(ctx, e.ID); err != nil || !reflect.DeepEqual(got.Compared, counts) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestARunOfAMixStaysWhileItIsBuilt: the runs of a mix list it, and cannot be deleted before its end.
func TestARunOfAMixStaysWhileItIsBuilt(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	a, b := storetest.Seed(t, s, 1), storetest.Seed(t, s, 1)
	for _, tr := range append(a.Trajectories, b.Trajectories...) {
		storetest.Finish(t, s, storetest.Claim(t, s, tr.ID, "w"), 3, true)
	}
	e := relabel.Export{ID: relabel.NewID(), State: relabel.ExportQueued, Selection: relabel.ExportSelection{RunID: a.Run.ID, Iteration: 1},
		Form: relabel.ExportForm{Views: []relabel.View{relabel.ViewMessages}}, Directory: "/x", FolderID: "f",
		Mix: &relabel.Mix{Sources: []relabel.MixSource{{Selection: relabel.ExportSelection{RunID: b.Run.ID, Iteration: 1}}}}}
	must(t, s.CreateExport(ctx, e))
	for _, run := range []relabel.ID{a.Run.ID, b.Run.ID} {
		if list, _, err := s.ListExports(ctx, relabel.ExportFilter{RunID: &run}, relabel.Page{}); err != nil || len(list) != 1 || list[0].ID != e.ID {
			t.Errorf("%+v, %v", list, err)
		}
		if err := s.BeginDeletion(ctx, run); relabel.CodeOf(err) != relabel.CodeConflict {
			t.Errorf("deleted: %v", err)
		}
	}
	must(t, s.CancelExport(ctx, e.ID))
	must(t, s.BeginDeletion(ctx, b.Run.ID))
	must(t, s.FinishDeletion(ctx, b.Run.ID))
	if got, err := s.FindExport(ctx, e.ID); err != nil || got.Mix == nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestConversationsStayWhileAnExportWithThemIsBuilt(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	a := storetest.Seed(t, s, 1)
	storetest.Finish(t, s, storetest.Claim(t, s, a.Trajectories[0].ID, "w"), 3, true)
	set := relabel.ConversationSet{Name: "general", Digest: "x"}
	lines := conversations.Read(strings.NewReader(`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`))
	must(t, s.CreateConversationSet(ctx, &set, conversations.Chunks(lines, conversations.ChunkBytes, &set)))
	again := set
	again.ID = relabel.ID{}
	lines = conversations.Read(strings.NewReader(`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`))
	if err := s.CreateConversationSet(ctx, &again, conversations.Chunks(lines, conversations.ChunkBytes, &again)); relabel.CodeOf(err) != relabel.CodeConflict {
		t.Errorf("a second set of the name: %v", err)
	}
	e := relabel.Export{ID: relabel.NewID(), State: relabel.ExportQueued, Selection: relabel.ExportSelection{RunID: a.Run.ID, Iteration: 1},
		Form: relabel.ExportForm{Views: []relabel.View{relabel.ViewMessages}}, Directory: "/x", FolderID: "f",
		Mix: &relabel.Mix{Sources: []relabel.MixSource{{Selection: relabel.ExportSelection{Conversations: &set}}}}}
	must(t, s.CreateExport(ctx, e))
	if err := s.DeleteConversationSet(ctx, set.ID); relabel.CodeOf(err) != relabel.CodeConflict {
		t.Errorf("deleted: %v", err)
	}
	must(t, s.CutExport(ctx, e.ID, 1<<20))
	part, err := s.FindExportPart(ctx, e.ID, 1)
	must(t, err)
	read := 0
	for tr, err := range s.ExportTrajectories(ctx, e.Source(1).Selection, part) {
		must(t, err)
		read++
		if tr.Task.InstanceID != "general/1" || len(tr.Opening) != 1 || tr.Turns[0].Label.Message.Content != "b" {
			t.Errorf("%+v", tr)
		}
	}
	if read != 1 {
		t.Errorf("%d conversations", read)
	}
	must(t, s.CancelExport(ctx, e.ID))
	must(t, s.DeleteConversationSet(ctx, set.ID))
	if _, err := s.FindConversationSet(ctx, "general"); relabel.CodeOf(err) != relabel.CodeNotFound {
		t.Errorf("it is still there: %v", err)
	}
}
