package store_test

import (
	"context"
	"strings"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

func TestASessionEndsWithItsToken(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	begin := func(name string, access relabel.Access) string {
		t.Helper()
		token, err := s.CreateToken(ctx, name, access)
		must(t, err)
		session, err := s.BeginSession(ctx, relabel.HashSecret(token))
		must(t, err)
		return session
	}
	check := func(session string, want relabel.Access) {
		t.Helper()
		access, err := s.CheckSession(ctx, relabel.HashSecret(session))
		must(t, err)
		if access != want {
			t.Errorf("access %q, want %q", access, want)
		}
	}
	mine, theirs := begin("mine", relabel.FullAccess), begin("theirs", relabel.ReadAccess)
	check(mine, relabel.FullAccess)
	check(theirs, relabel.ReadAccess)
	check("\x00", relabel.NoAccess)
	if all := value[string](t, s, "SELECT string_agg(k::text, ' ') FROM sessions k"); strings.Contains(all, mine) {
		t.Error("a session's secret is in the database")
	}
	must(t, s.RevokeToken(ctx, "mine"))
	check(mine, relabel.NoAccess)
	must(t, s.EndSession(ctx, relabel.HashSecret(theirs)))
	must(t, s.EndSession(ctx, relabel.HashSecret(theirs)))
	check(theirs, relabel.NoAccess)
	_, err := s.BeginSession(ctx, relabel.HashSecret("nothing"))
	wantCode(t, err, relabel.CodeUnauthorized)
	old := begin("old", relabel.FullAccess)
	value[string](t, s, "WITH u AS (UPDATE sessions SET created_at = created_at - interval '31 days' RETURNING 1) SELECT count(*)::text FROM u")
	check(old, relabel.NoAccess)
}
