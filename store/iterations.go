package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

var iterationSelect = `SELECT it.id, it.run_id, it.number, it.kind, it.student_id, it.beta, it.rho, it.generations, it.label_rule, it.verify,
	it.again_id, it.walk, it.benchmark_id, (SELECT ` + limitsOf("be") + ` FROM benchmarks be WHERE be.id = it.benchmark_id) AS limits,
	it.allow_benchmarks, it.reserved_tasks, it.state, it.paused, it.labelling_since, it.created_at, it.ended_at, it.regraded_at FROM iterations it`

// CreateIteration stores an iteration with its trajectories and one wake-up each, in one
// transaction. CodeConflict if the number is taken, or a named benchmark reserves one of the tasks of an
// iteration for training, CodeInvalid without trajectories. An iteration that measures without a benchmark gets one without a name, of exactly its tasks.
func (s *Store) CreateIteration(ctx context.Context, p relabel.PlannedIteration) error {
	if len(p.Trajectories) == 0 {
		return relabel.Errorf(relabel.CodeInvalid, "an iteration needs at least one trajectory").On("tasks")
	}
	it := p.Iteration
	it.ID = ensureID(it.ID)
	return s.retryTx(ctx, unlessCreated("iterations", it.ID), func(tx pgx.Tx, _ bool) error {
		if err := keepRun(ctx, tx, itself, it.RunID); err != nil {
			return err
		}
		if (it.Kind == relabel.Evaluate || p.Measures) && it.BenchmarkID == nil {
			drawn, err := drawnBenchmark(ctx, tx, it.RunID, p.Trajectories)
			if err != nil {
				return err
			}
			it.BenchmarkID = &drawn
		}
		if it.BenchmarkID == nil {
			if err := refuseReserved(ctx, tx, p); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `INSERT INTO iterations (id, run_id, number, kind, student_id, beta, rho, generations, trajectories, open, again_id,
				walk, benchmark_id, allow_benchmarks, reserved_tasks, verify, label_rule)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11, $12, $13, $14, coalesce(nullif($15, ''), 'all'), coalesce(nullif($16, ''), 'all'))`,
			it.ID, it.RunID, it.Number, it.Kind, it.StudentID, it.Beta, it.Rho, max(it.Generations, 1), len(p.Trajectories), it.AgainID,
			it.Walk, it.BenchmarkID, noneAsNull(it.AllowBenchmarks), it.ReservedTasks, it.Verify, it.LabelRule)
		if err != nil {
			return err
		}
		columns := []string{"id", "run_id", "iteration_id", "kind", "task_id", "generation", "executors", "kappa", "skip_verify"}
		_, err = tx.CopyFrom(ctx, pgx.Identifier{"trajectories"}, columns, pgx.CopyFromSlice(len(p.Trajectories), func(i int) ([]any, error) {
			t := p.Trajectories[i]
			return []any{ensureID(t.ID), it.RunID, it.ID, it.Kind, t.TaskID, t.Generation, t.Executors, t.Kappa, t.SkipVerify}, nil
		}))
		if err != nil {
			return err
		}
		if err := giveHints(ctx, tx, it); err != nil {
			return err
		}
		if p.Weights != nil {
			check := *p.Weights
			check.IterationID = &it.ID
			if err := insertWeightCheck(ctx, tx, check); err != nil {
				return err
			}
		}
		return s.wakeFor(ctx, tx, it.ID, len(p.Trajectories))
	})
}

// FindIteration returns an iteration and counts its trajectories and labels.
// CodeNotFound if there is none. The counts are no older than the state.
func (s *Store) FindIteration(ctx context.Context, id relabel.ID) (relabel.Iteration, relabel.Progress, error) {
	it, err := readOne[relabel.Iteration](ctx, s.pool, iterationSelect+" WHERE it.id = $1", id)
	if err != nil {
		return it, relabel.Progress{}, notFound("iteration", id, err)
	}
	progress, err := s.progress(ctx, id)
	return it, progress, err
}

// FindDraw returns the drawn tasks of an iteration. CodeNotFound if there is none.
func (s *Store) FindDraw(ctx context.Context, iteration relabel.ID) (relabel.Draw, error) {
	d := relabel.Draw{IterationID: iteration}
	err := s.pool.QueryRow(ctx, `SELECT coalesce((SELECT be.taskset_id FROM benchmarks be WHERE be.id = it.benchmark_id), r.taskset_id), it.benchmark_id,
			it.reserved_tasks, it.generations,
			ARRAY(SELECT ta.instance_id FROM tasks ta WHERE ta.id IN (SELECT tr.task_id FROM trajectories tr WHERE tr.iteration_id = it.id) ORDER BY ta.instance_id COLLATE "C")
		FROM iterations it JOIN runs r ON r.id = it.run_id WHERE it.id = $1`, iteration).Scan(&d.TasksetID, &d.BenchmarkID, &d.ReservedTasks, &d.Generations, &d.Instances)
	return d, notFound("iteration", iteration, err)
}

// ListWalked lists the draws of a run's iterations of a kind along permutations, in order.
func (s *Store) ListWalked(ctx context.Context, run relabel.ID, kind relabel.IterationKind) ([]relabel.WalkedDraw, error) {
	return listAll[relabel.WalkedDraw](ctx, s, `SELECT it.walk,
			ARRAY(SELECT ta.instance_id FROM tasks ta WHERE ta.id IN (SELECT tr.task_id FROM trajectories tr WHERE tr.iteration_id = it.id)) AS instances
		FROM iterations it WHERE it.run_id = $1 AND it.kind = $2 AND it.walk IS NOT NULL ORDER BY it.number`, run, kind)
}

func readIteration(ctx context.Context, tx pgx.Tx, id relabel.ID) (relabel.Iteration, error) {
	it, err := readOne[relabel.Iteration](ctx, tx, iterationSelect+" WHERE it.id = $1", id)
	return it, notFound("iteration", id, err)
}

func (s *Store) progress(ctx context.Context, iteration relabel.ID) (relabel.Progress, error) {
	sum := relabel.Progress{Trajectories: map[relabel.TrajectoryState]int{}}
	rows, _ := s.pool.Query(ctx, "SELECT "+progressColumns+" FROM trajectories WHERE iteration_id = $1 GROUP BY state", iteration)
	var row progressRow
	_, err := pgx.ForEachRow(rows, row.fields(), func() error {
		row.addTo(&sum)
		return nil
	})
	return sum, classify(err)
}

// ListIterations lists a run's iterations in the order of creation, none if there is no such
// run.
func (s *Store) ListIterations(ctx context.Context, run relabel.ID) ([]relabel.Iteration, error) {
	return listAll[relabel.Iteration](ctx, s, iterationSelect+" WHERE it.run_id = $1 ORDER BY it.created_at, it.id", run)
}

// CancelIteration cancels its open trajectories; their owners find their lease lost. Cancelling
// twice is not an error. CodeConflict if the iteration is done.
func (s *Store) CancelIteration(ctx context.Context, id relabel.ID) (relabel.Iteration, error) {
	var it relabel.Iteration
	err := s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) (err error) {
		if err := cancelIteration(ctx, tx, id); err != nil {
			return err
		}
		if it, err = readIteration(ctx, tx, id); err != nil {
			return err
		}
		if it.State == relabel.IterationDone {
			return relabel.Errorf(relabel.CodeConflict, "the iteration is done")
		}
		return nil
	})
	if err != nil {
		return it, err
	}
	return it, s.BalanceWakeups(ctx)
}

// CancelRun cancels all running iterations of the run or none. It ignores a run without any.
func (s *Store) CancelRun(ctx context.Context, id relabel.ID) (relabel.Run, error) {
	return s.changeRun(ctx, id, func(tx pgx.Tx) error {
		running, err := readColumn[relabel.ID](ctx, tx,
			"SELECT id FROM iterations WHERE run_id = $1 AND state = 'running' ORDER BY id", id)
		for _, iteration := range running {
			if err := cancelIteration(ctx, tx, iteration); err != nil {
				return err
			}
		}
		return err
	})
}

// cancelIteration cancels a running iteration and its open trajectories. It locks trajectories
// before their iteration, as everywhere, to avoid a deadlock with one that ends.
func cancelIteration(ctx context.Context, tx pgx.Tx, id relabel.ID) error {
	if err := cancelOrRetry(ctx, tx, id); err != nil {
		return err
	}
	if err := cancelTrajectories(ctx, tx, id); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `UPDATE iterations SET state = 'cancelled', open = 0, ended_at = clock_timestamp()
		WHERE id = $1 AND state = 'running'`, id)
	return err
}

// cancelOrRetry serializes cancel and retry of one iteration: a cancel that misses requeued
// trajectories would leave them queued forever.
func cancelOrRetry(ctx context.Context, tx pgx.Tx, iteration relabel.ID) error {
	_, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended('cancel or retry of ' || $1::text, 0))", iteration.String())
	return err
}

// cancelTrajectories cancels the open trajectories with their running attempts and pending
// labels.
func cancelTrajectories(ctx context.Context, tx pgx.Tx, iteration relabel.ID) error {
	ids, err := readColumn[relabel.ID](ctx, tx, `SELECT id FROM trajectories WHERE iteration_id = $1
		AND state IN ('queued', 'running', 'labelling', 'verifying') ORDER BY id FOR NO KEY UPDATE`, iteration)
	if err != nil || len(ids) == 0 {
		return err
	}
	const why = "the iteration was cancelled"
	if err := endAttempts(ctx, tx, ids, "cancelled", why); err != nil {
		return err
	}
	if err := forgoLabels(ctx, tx, ids, why); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE trajectories SET state = 'cancelled', owner = NULL, lease_until = NULL, ended_at = clock_timestamp()
		WHERE id = ANY ($1)`, ids)
	return err
}

// endTrajectory counts one of the iteration's trajectories as terminal; the last one ends the
// iteration. It belongs to the transaction that ends the trajectory.
func endTrajectory(ctx context.Context, tx pgx.Tx, iteration relabel.ID) error {
	_, err := tx.Exec(ctx, `UPDATE iterations SET open = open - 1,
		state = CASE WHEN open = 1 THEN 'done' ELSE state END,
		ended_at = CASE WHEN open = 1 THEN clock_timestamp() END
		WHERE id = $1 AND state = 'running'`, iteration)
	return err
}
