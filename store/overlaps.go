package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
	"relabel/overlap"
)

// overlapMeasure is the version of the measure of package overlap. A change of it raises the version: the overlaps
// of all benchmarks are then measured again.
const overlapMeasure = 1

// patchIndex finds the tasks whose patches overlap with a given one.
type patchIndex struct {
	index overlap.Index
	tasks []indexedTask // by their numbers in the index
}

// indexedTask is a task, of a benchmark if the index is of benchmarks.
type indexedTask struct{ benchmark, task relabel.ID }

// taskOverlap is a row of task_overlaps.
type taskOverlap struct {
	benchmark, task, benchmarkTask relabel.ID
	share                          float64
	common                         int
}

// indexBenchmarks indexes the patches of the tasks of named benchmarks that meet a condition on be.
func indexBenchmarks(ctx context.Context, tx pgx.Tx, condition string, args ...any) (*patchIndex, error) {
	x := &patchIndex{}
	rows, _ := tx.Query(ctx, `SELECT be.id, ta.id, ta.patch FROM benchmarks be JOIN benchmark_tasks bt ON bt.benchmark_id = be.id JOIN tasks ta ON ta.id = bt.task_id
		WHERE be.name IS NOT NULL AND octet_length(ta.patch) > 0 AND `+condition+` ORDER BY be.id, ta.id`, args...)
	var t indexedTask
	var patch []byte
	_, err := pgx.ForEachRow(rows, []any{&t.benchmark, &t.task, &patch}, func() error {
		x.index.Add(overlap.Of(string(patch)))
		x.tasks = append(x.tasks, t)
		return nil
	})
	return x, err
}

// overlapsOf compares the tasks that a query selects (their ids and patches) with the index, and returns the largest overlap
// of each with each benchmark. Tasks do not overlap with themselves.
func (x *patchIndex) overlapsOf(ctx context.Context, tx pgx.Tx, query string, args ...any) (found []taskOverlap, err error) {
	if len(x.tasks) == 0 {
		return nil, nil
	}
	rows, _ := tx.Query(ctx, query, args...)
	var task relabel.ID
	var patch []byte
	_, err = pgx.ForEachRow(rows, []any{&task, &patch}, func() error {
		seen := map[relabel.ID]bool{}
		for _, m := range x.index.Find(overlap.Of(string(patch)), overlap.Threshold) {
			other := x.tasks[m.Number]
			if other.task == task || seen[other.benchmark] {
				continue
			}
			seen[other.benchmark] = true
			found = append(found, taskOverlap{other.benchmark, task, other.task, m.Share, m.Common})
		}
		return nil
	})
	return found, err
}

func storeOverlaps(ctx context.Context, tx pgx.Tx, found []taskOverlap) error {
	columns := []string{"benchmark_id", "task_id", "benchmark_task_id", "share", "common"}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"task_overlaps"}, columns, pgx.CopyFromSlice(len(found), func(i int) ([]any, error) {
		o := found[i]
		return []any{o.benchmark, o.task, o.benchmarkTask, o.share, o.common}, nil
	}))
	return err
}

// markBenchmark stores which tasks, of all task sets, overlap with those of a named benchmark. The caller holds the
// lock of reserving, so no task is added meanwhile.
func markBenchmark(ctx context.Context, tx pgx.Tx, benchmark relabel.ID) error {
	x, err := indexBenchmarks(ctx, tx, "be.id = $1", benchmark)
	if err != nil {
		return err
	}
	found, err := x.overlapsOf(ctx, tx, `SELECT ta.id, ta.patch FROM tasks ta WHERE octet_length(ta.patch) > 0
		AND NOT EXISTS (SELECT 1 FROM benchmark_tasks bt WHERE bt.benchmark_id = $1 AND bt.task_id = ta.id)`, benchmark)
	if err != nil {
		return err
	}
	if err := storeOverlaps(ctx, tx, found); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "INSERT INTO measured_benchmarks (benchmark_id, measure) VALUES ($1, $2)", benchmark, overlapMeasure)
	return err
}

// markTasks stores which tasks that a revision added overlap with those of named benchmarks. It holds the lock of reserving
// until the transaction ends: a benchmark that is created meanwhile waits, and then sees the tasks.
func markTasks(ctx context.Context, tx pgx.Tx, taskset relabel.ID, revision int) error {
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock_shared("+reserving+")"); err != nil {
		return err
	}
	x, err := indexBenchmarks(ctx, tx, "true")
	if err != nil {
		return err
	}
	found, err := x.overlapsOf(ctx, tx, "SELECT ta.id, ta.patch FROM tasks ta WHERE ta.taskset_id = $1 AND ta.added_in = $2 AND octet_length(ta.patch) > 0", taskset, revision)
	if err != nil {
		return err
	}
	return storeOverlaps(ctx, tx, found)
}

// measureBenchmarks stores the overlaps of named benchmarks that an earlier version created, or measured in another way. The
// caller holds the lock of migrations, so that of several processes one measures and the others find nothing to do.
func (s *Store) measureBenchmarks(ctx context.Context) error {
	rows, _ := s.pool.Query(ctx, `SELECT be.id FROM benchmarks be LEFT JOIN measured_benchmarks me ON me.benchmark_id = be.id
		WHERE be.name IS NOT NULL AND me.measure IS DISTINCT FROM $1 ORDER BY be.id`, overlapMeasure)
	all, err := pgx.CollectRows(rows, pgx.RowTo[relabel.ID])
	if err != nil {
		return classify(err)
	}
	for _, id := range all {
		err = s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
			if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock("+reserving+")"); err != nil {
				return err
			}
			for _, table := range []string{"task_overlaps", "measured_benchmarks"} {
				if _, err := tx.Exec(ctx, "DELETE FROM "+table+" WHERE benchmark_id = $1", id); err != nil {
					return err
				}
			}
			if is, err := exists(ctx, tx, "benchmarks", id); err != nil || !is {
				return err
			}
			return markBenchmark(ctx, tx, id)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
