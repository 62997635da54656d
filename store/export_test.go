package store

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// Explain is how Postgres would read a page of a filtered list.
func (s *Store) Explain(ctx context.Context, f relabel.TrajectoryFilter) (string, error) {
	query, args := trajectoryList(f).sql(nil, defaultPage+1)
	rows, _ := s.pool.Query(ctx, "EXPLAIN "+query, args...)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return strings.Join(lines, "\n"), err
}

// Write runs fn in a transaction as every write runs.
func (s *Store) Write(ctx context.Context, fn func(tx pgx.Tx) error) error { return s.write(ctx, fn) }
