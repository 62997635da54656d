package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// silentAfter is how long a worker may say nothing before it is shown as silent;
// forgottenAfter, before it is shown no more.
const (
	silentAfter    = 30 * time.Second
	forgottenAfter = 24 * time.Hour
)

// SeeWorker records that the worker lives and whether it is draining, and forgets
// workers that nobody has heard of for a day.
func (s *Store) SeeWorker(ctx context.Context, w relabel.Worker) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		b := &pgx.Batch{}
		b.Queue(`INSERT INTO workers (name, machine, process, docker_hosts, rollouts, prefetch, version, draining)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
			ON CONFLICT (name) DO UPDATE SET draining = excluded.draining, docker_hosts = excluded.docker_hosts, seen_at = clock_timestamp()`,
			w.Name, w.Machine, w.Process, texts(w.DockerHosts), w.Rollouts, w.Prefetch, w.Version, w.State == relabel.WorkerDraining)
		b.Queue("DELETE FROM workers WHERE seen_at < clock_timestamp() - $1::interval", forgottenAfter)
		return tx.SendBatch(ctx, b).Close()
	})
}

// ShowActivity records what the worker does right now, and that it lives. A worker that
// is not there any more is not made anew.
func (s *Store) ShowActivity(ctx context.Context, worker string, a relabel.WorkerActivity) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		_, err := tx.Exec(ctx, "UPDATE workers SET activity = $2, seen_at = clock_timestamp() WHERE name = $1", worker, a)
		return err
	})
}

// ForgetWorker removes a worker that has stopped in order.
func (s *Store) ForgetWorker(ctx context.Context, name string) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		_, err := tx.Exec(ctx, "DELETE FROM workers WHERE name = $1", name)
		return err
	})
}

// ListWorkers lists the workers, by machine and start, with what they hold.
func (s *Store) ListWorkers(ctx context.Context) ([]relabel.Worker, error) {
	rows, _ := s.pool.Query(ctx, `WITH held AS (SELECT owner, count(*) AS n FROM trajectories WHERE owner IS NOT NULL GROUP BY owner)
		SELECT wo.name, wo.machine, wo.process, wo.docker_hosts, wo.rollouts, wo.prefetch, wo.version,
			CASE WHEN wo.seen_at < clock_timestamp() - $1::interval THEN 'silent' WHEN wo.draining THEN 'draining' ELSE 'working' END AS state,
			coalesce(held.n, 0) AS held, wo.started_at, wo.seen_at, wo.activity
		FROM workers wo LEFT JOIN held ON held.owner = wo.name ORDER BY wo.machine, wo.started_at, wo.name`, silentAfter)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[relabel.Worker])
	return list, classify(err)
}
