package store_test

import (
	"context"
	"slices"
	"testing"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// doneExport stores a finished export of a run.
func doneExport(t *testing.T, s *store.Store, run relabel.ID) relabel.Export {
	t.Helper()
	ctx := context.Background()
	e := relabel.Export{ID: relabel.NewID(), FolderID: "f", Directory: "/exports/1", Selection: relabel.ExportSelection{RunID: run, Iteration: 1}}
	must(t, s.CreateExport(ctx, e))
	must(t, s.RunExport(ctx, e.ID))
	must(t, s.FinishExport(ctx, e))
	return e
}

func TestAPushOfAnExportLives(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	e := doneExport(t, s, storetest.Seed(t, s, 1).Run.ID)
	jobs := func() int {
		return value[int](t, s, "SELECT count(*) FROM river_job WHERE kind = 'export' AND queue = 'export-f' AND args->>'step' = 'push' AND state = 'available'")
	}
	events := func() int {
		return value[int](t, s, "SELECT count(*) FROM events WHERE export_id = $1 AND state = 'done'", e.ID)
	}
	pushed := func() relabel.ExportPush {
		got, err := s.FindExport(ctx, e.ID)
		must(t, err)
		return got.Pushes[0]
	}
	before := events()
	for range 2 { // the same request again
		number, err := s.CreatePush(ctx, e.ID, relabel.ExportPush{Destination: "hf://acme/set", AllowSecrets: []string{"jwt"}})
		must(t, err)
		if number != 1 || jobs() != 1 || pushed().State != relabel.ExportQueued || !slices.Equal(pushed().AllowSecrets, []string{"jwt"}) || events() != before+1 {
			t.Errorf("push %d: %+v with %d jobs and %d events", number, pushed(), jobs(), events())
		}
	}
	_, err := s.CreatePush(ctx, e.ID, relabel.ExportPush{Destination: "hf://acme/other"})
	wantCode(t, err, relabel.CodeConflict)
	wantCode(t, s.DeleteExport(ctx, e.ID), relabel.CodeConflict)
	wantCode(t, s.BeginDeletion(ctx, e.Selection.RunID), relabel.CodeConflict)

	news, err := s.PushWaits(ctx, e.ID, 1, "the Hub is busy")
	must(t, err)
	again, err := s.PushWaits(ctx, e.ID, 1, "the Hub is busy")
	must(t, err)
	if p := pushed(); !news || again || p.Waiting != "the Hub is busy" || p.WaitingSince == nil {
		t.Errorf("%v, %v: it waits %+v", news, again, p)
	}
	open, err := s.ReportPush(ctx, e.ID, 1, 30, 100)
	must(t, err)
	if p := pushed(); !open || p.State != relabel.ExportRunning || p.SentBytes != 30 || p.Bytes != 100 || p.Waiting != "" {
		t.Errorf("%v, it runs as %+v", open, p)
	}
	must(t, s.FinishPush(ctx, e.ID, 1, "hf://acme/set@0123"))
	must(t, s.FailPush(ctx, e.ID, 1, "too late"))
	if p := pushed(); p.State != relabel.ExportDone || p.Place != "hf://acme/set@0123" || p.EndedAt == nil || p.SentBytes != 100 {
		t.Errorf("it ended as %+v", p)
	}
	wantCode(t, s.CancelPush(ctx, e.ID), relabel.CodeConflict)

	number, err := s.CreatePush(ctx, e.ID, relabel.ExportPush{Destination: "hf://acme/other"})
	must(t, err)
	must(t, s.CancelPush(ctx, e.ID))
	open, err = s.ReportPush(ctx, e.ID, number, 1, 2)
	must(t, err)
	if p := pushed(); open || p.Number != 2 || p.State != relabel.ExportCancelled || p.Bytes != 0 {
		t.Errorf("%v, cancelled it is %+v", open, p)
	}
	must(t, s.DeleteExport(ctx, e.ID))
	wantCode(t, s.CancelPush(ctx, e.ID), relabel.CodeNotFound)
	_, err = s.CreatePush(ctx, e.ID, relabel.ExportPush{Destination: "hf://acme/set"})
	wantCode(t, err, relabel.CodeNotFound)
}

func TestOnlyAFinishedExportIsPushed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	e := relabel.Export{ID: relabel.NewID(), FolderID: "f", Directory: "/exports/1", Selection: relabel.ExportSelection{RunID: storetest.Seed(t, s, 1).Run.ID, Iteration: 1}}
	must(t, s.CreateExport(ctx, e))
	_, err := s.CreatePush(ctx, e.ID, relabel.ExportPush{Destination: "hf://acme/set"})
	wantCode(t, err, relabel.CodeConflict)
}

func TestAPushThatLostItsJobIsQueuedAgain(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	e := doneExport(t, s, storetest.Seed(t, s, 1).Run.ID)
	_, err := s.CreatePush(ctx, e.ID, relabel.ExportPush{Destination: "hf://acme/set"})
	must(t, err)
	_, err = s.Pool().Exec(ctx, "DELETE FROM river_job")
	must(t, err)
	_, err = s.RecoverAbandoned(ctx, nil)
	must(t, err)
	if n := value[int](t, s, "SELECT count(*) FROM river_job WHERE args->>'step' = 'push' AND args->>'export_id' = $1 AND args->>'part' = '1'", e.ID.String()); n != 1 {
		t.Errorf("%d jobs", n)
	}
}
