package store_test

import (
	"context"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

func TestSignInsAreBounded(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	token, err := s.CreateToken(ctx, "t", relabel.ReadAccess)
	must(t, err)
	hash := relabel.HashSecret(token)
	exec(t, s, "INSERT INTO sessions (sha256, token_sha256, created_at) SELECT encode(sha256(n::text::bytea), 'hex'), $1, now() - interval '1 hour' FROM generate_series(1, 1000) n", hash)
	for range 70 {
		_, err := s.BeginSession(ctx, hash)
		must(t, err)
	}
	if n := value[int](t, s, "SELECT count(*) FROM sessions"); n != 1000 {
		t.Errorf("%d sessions", n)
	}
	if n := value[int](t, s, "SELECT count(*) FROM sessions WHERE created_at > now() - interval '30 minutes'"); n != 70 {
		t.Errorf("%d new sessions: others than the oldest ended", n)
	}
	entries, more := value[int](t, s, "SELECT count(*) FROM audit WHERE operation = 'sign-in'"), value[int](t, s, "SELECT max(more) FROM audit")
	if entries != 60 || more != 10 {
		t.Errorf("%d entries, and %d more", entries, more)
	}
}

func TestAnEntryThatCannotBeCountedStays(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	entry := relabel.AuditEntry{ID: relabel.NewID(), Actor: relabel.ActorLocal, Operation: "o"}
	must(t, s.BeginAudit(ctx, entry, relabel.Caller{}))
	must(t, s.CountAudit(ctx, entry.ID, relabel.NewID(), 404))
	if status := value[int](t, s, "SELECT status FROM audit WHERE id = $1", entry.ID); status != 404 {
		t.Errorf("status %d", status)
	}
}
