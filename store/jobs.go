package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"relabel"
)

// QueueExport is the queue of exports that any machine can write.
const QueueExport = "export"

// alive are the states of an unfinished job. An export has at most one unfinished job per step;
// finished jobs do not prevent new ones.
var alive = []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
	rivertype.JobStateRunning, rivertype.JobStateScheduled,
}

// ExportQueue is the queue of exports to the folder with this id; "" is for exports to a
// bucket, which any machine can write to.
func ExportQueue(folder string) string {
	if folder == "" {
		return QueueExport
	}
	return QueueExport + "-" + folder
}

// queueSteps inserts jobs of exports unless the same job is unfinished.
func (s *Store) queueSteps(ctx context.Context, tx pgx.Tx, folder string, steps ...relabel.ExportJob) error {
	for chunk := range slices.Chunk(steps, jobBatch) {
		params := make([]river.InsertManyParams, len(chunk))
		for i, step := range chunk {
			params[i] = river.InsertManyParams{Args: step, InsertOpts: &river.InsertOpts{Queue: ExportQueue(folder),
				UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: alive}}}
		}
		if _, err := s.jobs.InsertManyTx(ctx, tx, params); err != nil {
			return err
		}
	}
	return nil
}

// jobBatch bounds one insert statement.
const jobBatch = 1000

// wake inserts n wake-ups, which are RolloutJobs in the queue of the kind of task: one per claimable
// trajectory, so that any free slot finds one. A surplus one ends at once; BalanceWakeups adds missing
// ones.
func (s *Store) wake(ctx context.Context, tx pgx.Tx, kind relabel.TaskKind, n int) error {
	return s.insertWakeups(ctx, tx, kind.Queue(), relabel.RolloutJob{TaskKind: kind.Alike()[0]}, n)
}

// wakeFor is wake for trajectories of an iteration.
func (s *Store) wakeFor(ctx context.Context, tx pgx.Tx, iteration relabel.ID, n int) error {
	kind, err := readValue[relabel.TaskKind](ctx, tx, "SELECT ru.task_kind FROM runs ru JOIN iterations it ON it.run_id = ru.id WHERE it.id = $1", iteration)
	if err != nil {
		return err
	}
	return s.wake(ctx, tx, kind, n)
}

func (s *Store) insertWakeups(ctx context.Context, tx pgx.Tx, queue string, job river.JobArgs, n int) error {
	for ; n > 0; n -= jobBatch {
		params := slices.Repeat([]river.InsertManyParams{{Args: job, InsertOpts: &river.InsertOpts{Queue: queue}}}, min(n, jobBatch))
		if _, err := s.jobs.InsertManyFastTx(ctx, tx, params); err != nil {
			return err
		}
	}
	return nil
}

// wakeNext wakes a worker for the work that the end of an attempt makes available: the requeued
// trajectory, or the next one of a run at its quota. In a run without a quota, each queued
// trajectory has a wake-up already.
func (s *Store) wakeNext(ctx context.Context, tx pgx.Tx, iteration relabel.ID, to relabel.TrajectoryState) error {
	var bounded bool
	var kind relabel.TaskKind
	err := tx.QueryRow(ctx, `SELECT ru.quota IS NOT NULL, ru.task_kind FROM runs ru JOIN iterations it ON it.run_id = ru.id WHERE it.id = $1`,
		iteration).Scan(&bounded, &kind)
	if err != nil {
		return err
	}
	if to != relabel.Queued && !bounded {
		return nil
	}
	return s.wake(ctx, tx, kind, 1)
}

// surplusWakeups compares the waiting wake-ups of queue $2 with what can be claimed of tasks of the kinds $1: queued trajectories of
// running, unpaused iterations within their runs' quotas, without those that wait for an
// endpoint.
var surplusWakeups = `WITH ` + withDown("''") + `, queued AS (
		SELECT it.run_id, count(*) AS n FROM iterations it JOIN runs ru ON ru.id = it.run_id` + heldBack + `
		JOIN trajectories tr ON tr.iteration_id = it.id AND tr.state = 'queued' AND tr.claimable_at <= clock_timestamp()
		WHERE it.state = 'running' AND it.paused IS NULL AND ru.task_kind = ANY ($1) AND NOT ` + waitsForEndpoint + ` GROUP BY it.run_id),
	held AS (SELECT run_id, count(*) AS n FROM trajectories WHERE owner IS NOT NULL GROUP BY run_id)
	SELECT (SELECT count(*) FROM river_job WHERE kind = 'rollout' AND queue = $2 AND state IN ('available', 'pending', 'retryable', 'scheduled'))
		- coalesce(sum(CASE WHEN ru.quota IS NULL THEN queued.n
			ELSE least(queued.n, greatest(ru.quota - coalesce(held.n, 0), 0)) END), 0)::bigint
	FROM queued JOIN runs ru ON ru.id = queued.run_id LEFT JOIN held ON held.run_id = ru.id WHERE ru.paused IS NULL`

// BalanceWakeups adjusts the number of wake-ups to the claimable trajectories. Every bulk
// change (a pause, a quota, a dead worker) calls it, and so does each worker periodically,
// which replaces wake-ups that were lost with their worker.
func (s *Store) BalanceWakeups(ctx context.Context) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		// A lock: otherwise concurrent callers would all add the missing ones.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ' wake-ups', 0))"); err != nil {
			return err
		}
		for _, kind := range relabel.RolloutKinds {
			if err := s.balanceKind(ctx, tx, kind); err != nil {
				return err
			}
		}
		return nil
	})
}

// balanceKind is BalanceWakeups for tasks of one of the RolloutKinds. The caller holds the lock.
func (s *Store) balanceKind(ctx context.Context, tx pgx.Tx, kind relabel.TaskKind) error {
	surplus, err := readValue[int](ctx, tx, surplusWakeups, kind.Alike(), kind.Queue())
	if err != nil {
		return err
	}
	if surplus <= 0 {
		return s.wake(ctx, tx, kind, -surplus)
	}
	_, err = tx.Exec(ctx, `DELETE FROM river_job WHERE id IN (SELECT id FROM river_job WHERE kind = 'rollout' AND queue = $2
		AND state IN ('available', 'pending', 'retryable', 'scheduled') ORDER BY id DESC LIMIT $1 FOR UPDATE SKIP LOCKED)`, surplus, kind.Queue())
	return err
}

// clearJobs deletes the wake-ups of gone workers (dead processes of this machine, and workers
// that have been silent for long), makes their export steps available again, and inserts the
// missing jobs of exports and deliveries. A step has no lease: two workers that run it write
// the same files.
func (s *Store) clearJobs(ctx context.Context, tx pgx.Tx, gone []string) error {
	b := &pgx.Batch{}
	b.Queue(`DELETE FROM river_job WHERE kind = 'rollout' AND state = 'running' AND (attempted_by[cardinality(attempted_by)] = ANY ($1)
		OR attempted_at < now() - $2::interval AND NOT EXISTS (SELECT 1 FROM workers WHERE name = attempted_by[cardinality(attempted_by)] AND seen_at > now() - $2::interval))`,
		gone, 10*silentAfter)
	b.Queue(`UPDATE river_job SET state = 'available', scheduled_at = now(), max_attempts = greatest(max_attempts, attempt + 1)
		WHERE kind = 'export' AND state = 'running' AND (attempted_by[cardinality(attempted_by)] = ANY ($1)
		OR attempted_at < now() - $2::interval AND NOT EXISTS (SELECT 1 FROM workers WHERE name = attempted_by[cardinality(attempted_by)] AND seen_at > now() - $2::interval))`,
		gone, 10*silentAfter)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	if err := s.reviveExports(ctx, tx); err != nil {
		return err
	}
	return s.reviveDeliveries(ctx, tx, gone)
}

// reviveExports queues the missing steps of exports: the cut, unfinished parts, the comparison, the last
// step, pushes.
func (s *Store) reviveExports(ctx context.Context, tx pgx.Tx) error {
	rows, _ := tx.Query(ctx, `WITH due AS (
			SELECT ex.id, ex.folder, 'cut' AS step, 0 AS part FROM exports ex
				WHERE ex.state IN ('queued', 'running') AND NOT EXISTS (SELECT 1 FROM export_parts p WHERE p.export_id = ex.id)
			UNION ALL SELECT ex.id, ex.folder, 'sign', p.number FROM exports ex JOIN export_parts p ON p.export_id = ex.id
				WHERE ex.state = 'running' AND ex.comparing AND p.signatures IS NULL
			UNION ALL SELECT ex.id, ex.folder, 'compare', 0 FROM exports ex
				WHERE ex.state = 'running' AND ex.comparing AND EXISTS (SELECT 1 FROM export_parts p WHERE p.export_id = ex.id)
				AND NOT EXISTS (SELECT 1 FROM export_parts p WHERE p.export_id = ex.id AND p.signatures IS NULL)
			UNION ALL SELECT ex.id, ex.folder, 'build', p.number FROM exports ex JOIN export_parts p ON p.export_id = ex.id
				WHERE ex.state = 'running' AND NOT ex.comparing AND NOT p.done
			UNION ALL SELECT ex.id, ex.folder, 'finish', 0 FROM exports ex
				WHERE ex.state = 'running' AND EXISTS (SELECT 1 FROM export_parts p WHERE p.export_id = ex.id)
				AND NOT EXISTS (SELECT 1 FROM export_parts p WHERE p.export_id = ex.id AND NOT p.done)
			UNION ALL SELECT ex.id, ex.folder, 'push', p.number FROM exports ex JOIN export_pushes p ON p.export_id = ex.id
				WHERE p.state IN ('queued', 'running'))
		SELECT due.folder, due.id, due.step, due.part FROM due WHERE NOT EXISTS (
			SELECT 1 FROM river_job j WHERE j.kind = 'export' AND j.args->>'export_id' = due.id::text
			AND j.args->>'step' = due.step AND j.args->>'part' = due.part::text
			AND j.state IN ('available', 'pending', 'retryable', 'running', 'scheduled'))`)
	type due struct {
		Folder string
		ID     relabel.ID
		Step   relabel.ExportStep
		Part   int
	}
	lacking, err := pgx.CollectRows(rows, pgx.RowToStructByPos[due])
	if err != nil {
		return err
	}
	for _, d := range lacking {
		if err := s.queueSteps(ctx, tx, d.Folder, relabel.ExportJob{ExportID: d.ID, Step: d.Step, Part: d.Part}); err != nil {
			return err
		}
	}
	return nil
}

// QueueLabel is the queue of relabelings, scorings and batches of labels.
const QueueLabel = "label"

// mostWakeups bounds the waiting wake-ups of a kind: far more than workers can take at once.
const mostWakeups = 1000

// QueueJudge is the queue of judgings.
const QueueJudge = "judge"

// wakeLabellers inserts n wake-ups. A surplus one ends at once; WakeLabellers adds missing
// ones.
func (s *Store) wakeLabellers(ctx context.Context, tx pgx.Tx, job river.JobArgs, n int) error {
	queue := QueueLabel
	if job.Kind() == (relabel.JudgeJob{}).Kind() {
		queue = QueueJudge
	}
	return s.insertWakeups(ctx, tx, queue, job, min(n, mostWakeups))
}

// labelWork are the kinds of work whose wake-ups WakeLabellers adds, with what can be claimed now.
var labelWork = []struct {
	job river.JobArgs
	due string
}{
	{relabel.RelabelJob{}, policyJobsDue("relabelings", "''")},
	{relabel.ScoreJob{}, policyJobsDue("scorings", "''")},
	{relabel.JudgeJob{}, policyJobsDue("judgings", "''")},
	{relabel.LabelBatchJob{}, " FROM label_batches ba WHERE" + batchDue},
}

// WakeLabellers adds wake-ups up to the number of claimable relabelings, scorings and judgings and of due
// batches: some became due since, others were lost with their workers. It is safe to call at any time, in any
// number of processes.
func (s *Store) WakeLabellers(ctx context.Context) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		// A lock: otherwise concurrent callers would all add the missing ones.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ' labellers', 0))"); err != nil {
			return err
		}
		for _, work := range labelWork {
			n, err := readValue[int](ctx, tx, "SELECT (SELECT count(*)"+work.due+`)
				- (SELECT count(*) FROM river_job WHERE kind = $1 AND state IN ('available', 'pending', 'retryable', 'scheduled'))`, work.job.Kind())
			if err != nil {
				return err
			}
			if err := s.wakeLabellers(ctx, tx, work.job, n); err != nil {
				return err
			}
		}
		return nil
	})
}
