package store

import (
	"context"
	"iter"
	"strings"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// Explain is how Postgres reads a page of a list of trajectories from its beginning,
// segment by segment, and counts the matches.
func (s *Store) Explain(ctx context.Context, f relabel.TrajectoryFilter, sort relabel.TrajectorySort) (plans []string, err error) {
	w, err := newPager(sort, relabel.Page{})
	if err != nil {
		return nil, err
	}
	if err := s.read(ctx, func(tx pgx.Tx) (err error) { w.filter, err = seek(ctx, tx, f); return err }); err != nil {
		return nil, err
	}
	explain := func(sql string, args []any) error {
		rows, _ := s.pool.Query(ctx, "EXPLAIN (ANALYZE, TIMING OFF, BUFFERS) "+sql, append([]any{pgx.QueryExecModeDescribeExec}, args...)...)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		plans = append(plans, strings.Join(lines, "\n"))
		return err
	}
	for at := range w.segments {
		if err := explain(w.query(at, defaultPage+1)); err != nil {
			return nil, err
		}
	}
	if sql, args := countQuery(w.filter); sql != "" {
		err = explain(sql, args)
	}
	return plans, err
}

// Write runs fn in a transaction as every write runs.
func (s *Store) Write(ctx context.Context, fn func(tx pgx.Tx) error) error {
	return s.retryTx(ctx, failOnUnclear, func(tx pgx.Tx, _ bool) error { return fn(tx) })
}

// Passing reports whether a call that failed in this way is retried.
var Passing = passing

// ExplainRelabelClaim is how Postgres finds the relabeling whose turn it is.
func (s *Store) ExplainRelabelClaim(ctx context.Context) (string, error) {
	rows, _ := s.pool.Query(ctx, "EXPLAIN (ANALYZE, COSTS OFF) "+nextPolicyJob("relabelings"), "w")
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return strings.Join(lines, "\n"), err
}

// ExplainClaim is how Postgres finds what a claim may take, while an endpoint is down and while
// none is.
func (s *Store) ExplainClaim(ctx context.Context, down bool) (string, error) {
	sql, args := anyCandidates, []any{relabel.Repair.Alike()}
	if down {
		sql, args = candidatesSelect, []any{relabel.Repair.Alike(), "w"}
	}
	rows, _ := s.pool.Query(ctx, "EXPLAIN (ANALYZE, COSTS OFF) "+sql, args...)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return strings.Join(lines, "\n"), err
}

// Exported yields what an export of sel would hold, as one part.
func (s *Store) Exported(ctx context.Context, sel relabel.ExportSelection) iter.Seq2[relabel.ExportTrajectory, error] {
	var all []sizedTrajectory
	err := s.read(ctx, func(tx pgx.Tx) (err error) {
		all, err = selected(ctx, tx, sel)
		return err
	})
	if err != nil {
		return func(yield func(relabel.ExportTrajectory, error) bool) { yield(relabel.ExportTrajectory{}, err) }
	}
	return s.ExportTrajectories(ctx, sel, relabel.ExportPart{Trajectories: cut(all, 1<<40)[0]})
}

// RunExport moves an export to running without cutting it.
func (s *Store) RunExport(ctx context.Context, id relabel.ID) error {
	_, err := s.pool.Exec(ctx, "UPDATE exports SET state = 'running' WHERE id = $1", id)
	return err
}

// ExplainGrid is how Postgres reads a page of a run's grid: its tasks, their number, and
// the cells of tasks.
func (s *Store) ExplainGrid(ctx context.Context, run relabel.ID, iterations, tasks []relabel.ID) (plans [3]string, err error) {
	for i, q := range []struct {
		sql  string
		args []any
	}{{gridTasks, []any{run, "", "owner__repo-0999", relabel.ID{}, 101}}, {gridCount, []any{run, ""}}, {gridCells, []any{iterations, tasks}}} {
		rows, _ := s.pool.Query(ctx, "EXPLAIN ANALYZE "+q.sql, q.args...)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return plans, err
		}
		plans[i] = strings.Join(lines, "\n")
	}
	return plans, nil
}

// ExplainHealth is Postgres's plan for a policy's last calls and for the failed ones.
func (s *Store) ExplainHealth(ctx context.Context, policy relabel.ID) (string, error) {
	var all []string
	for _, q := range []struct {
		sql  string
		args []any
	}{{recentCalls, []any{[]relabel.ID{policy}, relabel.MaxRecentCalls}}, {callSelect + " WHERE policy_id = $1 AND error <> '' ORDER BY started_at DESC LIMIT $2", []any{policy, 20}}} {
		rows, _ := s.pool.Query(ctx, "EXPLAIN "+q.sql, q.args...)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return "", err
		}
		all = append(all, lines...)
	}
	return strings.Join(all, "\n"), nil
}
