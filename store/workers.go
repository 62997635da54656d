package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// A worker is shown as silent after silentAfter without contact, and no longer after
// forgottenAfter.
const (
	silentAfter    = 30 * time.Second
	forgottenAfter = 24 * time.Hour
)

// SeeWorker records contact with the worker and whether it is draining, and deletes workers
// without contact for a day.
func (s *Store) SeeWorker(ctx context.Context, w relabel.Worker) error {
	return s.retryBatch(ctx, func(b *pgx.Batch) {
		b.Queue(`INSERT INTO workers (name, machine, process, docker_hosts, rollouts, prefetch, version, draining, task_kinds, searches)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
			ON CONFLICT (name) DO UPDATE SET draining = excluded.draining, docker_hosts = excluded.docker_hosts, task_kinds = excluded.task_kinds, seen_at = clock_timestamp()`,
			w.Name, w.Machine, w.Process, texts(w.DockerHosts), w.Rollouts, w.Prefetch, w.Version, w.State == relabel.WorkerDraining, texts(w.TaskKinds), w.Searches)
		b.Queue("DELETE FROM workers WHERE seen_at < clock_timestamp() - $1::interval", forgottenAfter)
	})
}

// ShowActivity records the worker's current activity, and contact with it. It does not recreate
// a deleted worker.
func (s *Store) ShowActivity(ctx context.Context, worker string, a relabel.WorkerActivity) error {
	return s.exec(ctx, "UPDATE workers SET activity = $2, seen_at = clock_timestamp() WHERE name = $1", worker, a)
}

// ForgetWorker deletes a worker that has stopped.
func (s *Store) ForgetWorker(ctx context.Context, name string) error {
	return s.exec(ctx, "DELETE FROM workers WHERE name = $1", name)
}

// ListWorkers lists the workers by machine and start, with the number of their trajectories.
func (s *Store) ListWorkers(ctx context.Context) ([]relabel.Worker, error) {
	return listAll[relabel.Worker](ctx, s,
		`WITH held AS (SELECT owner, count(*) AS n FROM trajectories WHERE owner IS NOT NULL GROUP BY owner)
		SELECT wo.name, wo.machine, wo.process, wo.docker_hosts, wo.task_kinds, wo.searches, wo.rollouts, wo.prefetch, wo.version,
			CASE WHEN wo.seen_at < clock_timestamp() - $1::interval THEN 'silent' WHEN wo.draining THEN 'draining' ELSE 'working' END AS state,
			coalesce(held.n, 0) AS held, wo.started_at, wo.seen_at, wo.activity
		FROM workers wo LEFT JOIN held ON held.owner = wo.name ORDER BY wo.machine, wo.started_at, wo.name`, silentAfter)
}
