package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// Relabelings, scorings and judgings have a policy do something with a done trajectory. Their tables have
// the same columns of state, priority, claim and lease, and what follows is the same for all.

// policyJobs are the jobs jo of a table with their iterations it and runs ru, joined at once, which is
// fast for a paused run with many.
func policyJobs(table string) string {
	return " FROM " + table + ` jo JOIN trajectories tr ON tr.id = jo.trajectory_id
	JOIN iterations it ON it.id = tr.iteration_id JOIN runs ru ON ru.id = tr.run_id `
}

// policyJobsDue are the jobs that a worker, given as an SQL expression, may claim.
func policyJobsDue(table, worker string) string {
	return policyJobs(table) + `WHERE (jo.state = 'queued' OR jo.state = 'running' AND jo.lease_until <= clock_timestamp())
		AND it.paused IS NULL AND ru.paused IS NULL AND jo.policy_id NOT IN ` + downPolicies(worker) + ` `
}

// nextPolicyJob is the next job for worker $1.
func nextPolicyJob(table string) string {
	return "SELECT jo.id" + policyJobsDue(table, "$1") + "ORDER BY jo.priority DESC, jo.created_at, jo.id LIMIT 1 FOR NO KEY UPDATE OF jo SKIP LOCKED"
}

// claimPolicyJob claims the next job and scans the columns of its row: the highest priority first, then
// the oldest. One with an expired lease counts as queued. Paused runs and iterations and policies with a
// down endpoint are skipped. CodeNotFound if there is none.
func claimPolicyJob(ctx context.Context, tx pgx.Tx, table, owner string, lease time.Duration, columns string, into ...any) error {
	err := tx.QueryRow(ctx, "UPDATE "+table+` SET state = 'running', claim = claim + 1, owner = $1,
			lease_until = clock_timestamp() + $2::interval, started_at = coalesce(started_at, clock_timestamp())
		WHERE id = (`+nextPolicyJob(table)+`) RETURNING `+columns, owner, lease).Scan(into...)
	return noneDue(err, "none of the "+table+" can be claimed now")
}

// renewPolicyJob extends the lease and reports whether the run or iteration is paused. CodeLeaseLost if
// the fence does not hold (cancelled or taken over), here and below.
func (s *Store) renewPolicyJob(ctx context.Context, f jobFence, lease time.Duration) (paused bool, err error) {
	err = s.changeJob(ctx, f, "lease_until = clock_timestamp() + $4::interval", "", lease)
	if err != nil {
		return false, err
	}
	err = s.pool.QueryRow(ctx, "SELECT it.paused IS NOT NULL OR ru.paused IS NOT NULL"+policyJobs(f.table)+"WHERE jo.id = $1", f.id).Scan(&paused)
	return paused, classify(err)
}

// releasePolicyJob returns the job to the queue.
func (s *Store) releasePolicyJob(ctx context.Context, f jobFence) error {
	return s.changeJob(ctx, f, "state = 'queued', owner = NULL, lease_until = NULL", "queued")
}

// finishPolicyJob moves a job without pending work to done.
func (s *Store) finishPolicyJob(ctx context.Context, f jobFence) error {
	return s.changeJob(ctx, f, "state = 'done', owner = NULL, lease_until = NULL, ended_at = clock_timestamp()", "done")
}

// failPolicyJob moves the job to failed, with a reason that is safe to show.
func (s *Store) failPolicyJob(ctx context.Context, f jobFence, reason string) error {
	return s.changeJob(ctx, f, "state = 'failed', failure = $4, owner = NULL, lease_until = NULL, ended_at = clock_timestamp()", "failed", validUTF8(reason))
}

// iterationSelected selects the trajectories tr of a run and its iterations: $1 run, $2 iteration or null,
// $3 iteration number or 0.
const iterationSelected = ` tr.run_id = $1 AND ($2::uuid IS NULL OR tr.iteration_id = $2)
	AND ($3 = 0 OR tr.iteration_id IN (SELECT it.id FROM iterations it WHERE it.run_id = $1 AND it.number = $3)) `

// cancelPolicyJobs cancels and counts the open jobs of the selected iterations, of one policy or (nil) of
// all. Stored results stay.
func (s *Store) cancelPolicyJobs(ctx context.Context, table string, run relabel.ID, iteration *relabel.ID, number int, policy *relabel.ID) (int, error) {
	return s.execCount(ctx, "UPDATE "+table+` jo SET state = 'cancelled', owner = NULL, lease_until = NULL, ended_at = clock_timestamp()
		WHERE jo.state IN ('queued', 'running') AND jo.trajectory_id IN (SELECT tr.id FROM trajectories tr WHERE`+iterationSelected+`)
			AND ($4::uuid IS NULL OR jo.policy_id = $4)`, run, iteration, number, policy)
}
