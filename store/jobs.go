package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"relabel"
)

// The queues that a worker takes jobs from.
const (
	QueueRollout = "rollout"
	QueueExport  = "export"
)

// alive are the states of a job that will still be worked. An export has at most one
// such job; a job that is over does not stand in the way of a new one.
var alive = []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
	rivertype.JobStateRunning, rivertype.JobStateScheduled,
}

// ExportQueue is the queue of the exports that go to the folder with an id; "" is for
// those that go to a bucket, which any machine can write to.
func ExportQueue(folder string) string {
	if folder == "" {
		return QueueExport
	}
	return QueueExport + "-" + folder
}

// queueSteps inserts jobs of exports, except if the same is alive already.
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

// wake inserts n wake-ups: jobs of RolloutJob. As many wait as there are trajectories to
// be claimed, so that a slot that becomes free anywhere finds one. One too many is over
// at once, finding nothing; one too few is made good by BalanceWakeups.
func (s *Store) wake(ctx context.Context, tx pgx.Tx, n int) error {
	for ; n > 0; n -= jobBatch {
		params := make([]river.InsertManyParams, min(n, jobBatch))
		for i := range params {
			params[i] = river.InsertManyParams{Args: relabel.RolloutJob{}, InsertOpts: &river.InsertOpts{Queue: QueueRollout}}
		}
		if _, err := s.jobs.InsertManyFastTx(ctx, tx, params); err != nil {
			return err
		}
	}
	return nil
}

// wakeNext wakes a worker for what the end of an attempt leaves to be claimed: the
// trajectory itself if it is queued again, or else the next one of a run whose quota
// it filled. Where nothing bounds a run, each queued trajectory has its wake-up already.
func (s *Store) wakeNext(ctx context.Context, tx pgx.Tx, iteration relabel.ID, to relabel.TrajectoryState) error {
	bounded := true
	if to != relabel.Queued {
		err := tx.QueryRow(ctx, "SELECT ru.quota IS NOT NULL FROM runs ru JOIN iterations it ON it.run_id = ru.id WHERE it.id = $1", iteration).Scan(&bounded)
		if err != nil {
			return err
		}
	}
	if !bounded {
		return nil
	}
	return s.wake(ctx, tx, 1)
}

// surplusWakeups compares the wake-ups that wait with what could be claimed now: queued
// trajectories of running iterations that are not paused, within their runs' quotas.
// What waits for an endpoint that is down is left out: it would be passed over.
var surplusWakeups = `WITH ` + withDown("''") + `, queued AS (
		SELECT it.run_id, count(*) AS n FROM iterations it JOIN runs ru ON ru.id = it.run_id` + heldBack + `
		JOIN trajectories tr ON tr.iteration_id = it.id AND tr.state = 'queued' AND tr.claimable_at <= clock_timestamp()
		WHERE it.state = 'running' AND it.paused IS NULL AND NOT ` + waitsForEndpoint + ` GROUP BY it.run_id),
	held AS (SELECT run_id, count(*) AS n FROM trajectories WHERE owner IS NOT NULL GROUP BY run_id)
	SELECT (SELECT count(*) FROM river_job WHERE kind = 'rollout' AND state IN ('available', 'pending', 'retryable', 'scheduled'))
		- coalesce(sum(CASE WHEN ru.quota IS NULL THEN queued.n
			ELSE least(queued.n, greatest(ru.quota - coalesce(held.n, 0), 0)) END), 0)::bigint
	FROM queued JOIN runs ru ON ru.id = queued.run_id LEFT JOIN held ON held.run_id = ru.id WHERE ru.paused IS NULL`

// BalanceWakeups makes as many wake-ups wait as there are trajectories to be claimed.
// Whatever changes that in bulk calls it (a pause, a quota, a dead worker), and each
// worker at its looks: a wake-up that was lost with its worker is missed for no longer.
func (s *Store) BalanceWakeups(ctx context.Context) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		// One at a time, or each would make up for the same lack.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ' wake-ups', 0))"); err != nil {
			return err
		}
		var surplus int
		if err := tx.QueryRow(ctx, surplusWakeups).Scan(&surplus); err != nil {
			return err
		}
		if surplus <= 0 {
			return s.wake(ctx, tx, -surplus)
		}
		_, err := tx.Exec(ctx, `DELETE FROM river_job WHERE id IN (SELECT id FROM river_job WHERE kind = 'rollout'
			AND state IN ('available', 'pending', 'retryable', 'scheduled') ORDER BY id DESC LIMIT $1 FOR UPDATE SKIP LOCKED)`, surplus)
		return err
	})
}

// clearJobs ends the wake-ups that went with their workers (those that dead processes of
// this machine had, and those of workers that nobody has heard of for long), makes the
// steps of exports of those available again, and inserts what exports and deliveries
// lack. A step has no lease: two that do the same write the same files, which does no harm.
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

// reviveExports queues the steps that exports lack: cutting, parts that are not built,
// the end.
func (s *Store) reviveExports(ctx context.Context, tx pgx.Tx) error {
	rows, _ := tx.Query(ctx, `WITH due AS (
			SELECT ex.id, ex.folder, 'cut' AS step, 0 AS part FROM exports ex
				WHERE ex.state IN ('queued', 'running') AND NOT EXISTS (SELECT 1 FROM export_parts p WHERE p.export_id = ex.id)
			UNION ALL SELECT ex.id, ex.folder, 'build', p.number FROM exports ex JOIN export_parts p ON p.export_id = ex.id
				WHERE ex.state = 'running' AND NOT p.done
			UNION ALL SELECT ex.id, ex.folder, 'finish', 0 FROM exports ex
				WHERE ex.state = 'running' AND EXISTS (SELECT 1 FROM export_parts p WHERE p.export_id = ex.id)
				AND NOT EXISTS (SELECT 1 FROM export_parts p WHERE p.export_id = ex.id AND NOT p.done))
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
