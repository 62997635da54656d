package main

import (
	"testing"
	"time"

	"relabel"
	"relabel/store/localpg"
	"relabel/store/storetest"
)

func TestAStartFinishesDeletions(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), &localpg.Database{Store: storetest.New(t)}
	seeded := storetest.Seed(t, db.Store, 45)
	if _, err := db.CancelRun(ctx, seeded.Run.ID); err != nil {
		t.Fatal(err)
	}
	if err := db.BeginDeletion(ctx, seeded.Run.ID); err != nil {
		t.Fatal(err)
	}
	defer startDeletions(ctx, db, quietLog())()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		_, err := db.FindRun(ctx, seeded.Run.ID)
		if relabel.CodeOf(err) == relabel.CodeNotFound {
			return
		}
		if err != nil || time.Now().After(end) {
			t.Fatalf("the run is there: %v", err)
		}
	}
}
