package store_test

import (
	"testing"
	"time"

	"relabel"
	"relabel/store/storetest"
)

func TestKeysThatNobodyRepeatsAreForgotten(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), storetest.New(t)
	for _, key := range []string{"old", "new"} {
		claim := relabel.Idempotent{Key: key, Route: "POST /v1/runs", BodyHash: "ab", Status: 201, Answer: []byte("{}")}
		if kept, err := s.BeginIdempotent(ctx, claim); kept != nil || err != nil {
			t.Fatalf("%+v, %v", kept, err)
		}
		must(t, s.EndIdempotent(ctx, claim))
	}
	_, err := s.Pool().Exec(ctx, "UPDATE idempotency_keys SET since = since - interval '25 hours' WHERE key = 'old'")
	must(t, err)
	purged, err := s.PurgeIdempotent(ctx, 24*time.Hour)
	must(t, err)
	if purged != 1 {
		t.Errorf("%d keys are forgotten", purged)
	}
	kept, err := s.BeginIdempotent(ctx, relabel.Idempotent{Key: "new", Route: "POST /v1/runs", BodyHash: "ab"})
	must(t, err)
	if kept == nil || kept.Status != 201 {
		t.Errorf("the new one: %+v", kept)
	}
}
