package store_test

import (
	"context"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"relabel/store/storetest"
)

// A turn's commit changes its trajectory's counts, and Postgres does so in place as long as
// no index holds what it changes. The one that lists missing labels does, and is written
// when one is missing.
func TestATurnsCommitWritesNoIndexOfTrajectories(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	changed := []string{"turns", "teacher_turns", "labels_received", "labels_pending", "labels_missing", "compared", "agreed", "ribbon", "tokens",
		"tool_calls", "tool_failures", "student_tool_calls", "student_tool_failures", "lease_until"}
	rows, _ := s.Pool().Query(context.Background(), `SELECT i.relname || ' ' || a.attname FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
		JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = i.oid AND d.refobjid = x.indrelid
		JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
		WHERE x.indrelid = 'trajectories'::regclass AND a.attname = ANY ($1)`, changed)
	held, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	if !slices.Equal(held, []string{"trajectories_by_labels_missing labels_missing"}) {
		t.Errorf("indexes hold what turns change: %v", held)
	}
}
