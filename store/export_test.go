package store

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// Explain is how Postgres would read a page of a filtered list: the first one, or the
// one after a time.
func (s *Store) Explain(ctx context.Context, f relabel.TrajectoryFilter, after *time.Time) (string, error) {
	var c *cursor
	if after != nil {
		c = &cursor{at: *after}
	}
	query, args := trajectoryList(f).sql(c, defaultPage+1)
	rows, _ := s.pool.Query(ctx, "EXPLAIN "+query, args...)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return strings.Join(lines, "\n"), err
}

// Write runs fn in a transaction as every write runs.
func (s *Store) Write(ctx context.Context, fn func(tx pgx.Tx) error) error { return s.write(ctx, fn) }

// Passing reports whether a call that failed so is tried again.
var Passing = passing

// ExplainRelabelClaim is how Postgres finds the relabeling whose turn it is.
func (s *Store) ExplainRelabelClaim(ctx context.Context) (string, error) {
	rows, _ := s.pool.Query(ctx, "EXPLAIN (ANALYZE, COSTS OFF) "+nextRelabeling)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return strings.Join(lines, "\n"), err
}

// ExplainClaim is how Postgres plans to find what a claim may take.
func (s *Store) ExplainClaim(ctx context.Context) (string, error) {
	rows, _ := s.pool.Query(ctx, "EXPLAIN (ANALYZE, COSTS OFF) "+candidatesSelect)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return strings.Join(lines, "\n"), err
}
