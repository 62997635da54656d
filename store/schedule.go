package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// candidatesSelect lists the iterations with a claimable trajectory, best first: the highest
// priority, then the run with the fewest held trajectories, then the oldest trajectory. It
// reads only the first queued trajectory of each iteration, and counts held ones only if that
// matters. Its cost grows with running iterations, and with held trajectories if there are
// several runs or a quota.
//
// It skips what a down endpoint holds back (health.go). Queued trajectories with a finished
// rollout have their own index, and so do the others. While only labels are held back, rollouts
// go first.
var candidatesSelect = `WITH ` + withDown("$2") + `, able AS MATERIALIZED (
		SELECT it.id, it.run_id, ru.quota, ru.priority, oldest.id AS oldest, held_back.rollouts, is_down.labels
		FROM iterations it JOIN runs ru ON ru.id = it.run_id` + heldBack + `
		CROSS JOIN LATERAL (SELECT id FROM (
			(SELECT tr.id FROM trajectories tr WHERE tr.iteration_id = it.id AND tr.state = 'queued'
				AND tr.claimable_at <= clock_timestamp() AND NOT held_back.rollouts AND NOT is_down.labels ORDER BY tr.id LIMIT 1)
			UNION ALL (SELECT coalesce(
				(SELECT tr.id FROM trajectories tr WHERE tr.iteration_id = it.id AND tr.state = 'queued'
					AND tr.claimable_at <= clock_timestamp() AND NOT held_back.rollouts AND tr.end_reason IS NULL ORDER BY tr.id LIMIT 1),
				(SELECT tr.id FROM trajectories tr WHERE tr.iteration_id = it.id AND tr.state = 'queued'
					AND tr.claimable_at <= clock_timestamp() AND tr.end_reason IS NOT NULL
					AND NOT (is_down.labels AND tr.labels_pending > 0) ORDER BY tr.id LIMIT 1)) WHERE held_back.rollouts OR is_down.labels)) ways
			WHERE id IS NOT NULL ORDER BY id LIMIT 1) oldest ` + judgeCandidates

// anyCandidates is candidatesSelect for the case that no endpoint is down, which costs less.
const anyCandidates = `WITH able AS MATERIALIZED (
		SELECT it.id, it.run_id, ru.quota, ru.priority, oldest.id AS oldest, false AS rollouts, false AS labels
		FROM iterations it JOIN runs ru ON ru.id = it.run_id
		CROSS JOIN LATERAL (SELECT tr.id FROM trajectories tr WHERE tr.iteration_id = it.id AND tr.state = 'queued'
			AND tr.claimable_at <= clock_timestamp() ORDER BY tr.id LIMIT 1) oldest ` + judgeCandidates

// judgeCandidates ends both: it skips paused iterations, runs with tasks of kinds that are not among $1, and runs at
// their quota, and orders the rest.
const judgeCandidates = `WHERE it.state = 'running' AND it.paused IS NULL AND ru.paused IS NULL AND ru.task_kind = ANY ($1)),
	held AS MATERIALIZED (
		SELECT run_id, count(*) AS n FROM trajectories
		WHERE owner IS NOT NULL AND (SELECT count(DISTINCT run_id) > 1 OR count(quota) > 0 FROM able) GROUP BY run_id)
	SELECT able.id, able.run_id, able.quota, able.rollouts, able.labels FROM able LEFT JOIN held USING (run_id)
	WHERE able.quota IS NULL OR coalesce(held.n, 0) < able.quota
	ORDER BY able.priority DESC, coalesce(held.n, 0), able.oldest`

// candidate is an iteration with a claimable trajectory.
type candidate struct {
	iteration, run relabel.ID
	quota          *int
	rollouts       bool // an endpoint that is down holds them back
	labels         bool // and these
}

// ClaimNext claims the next trajectory with a task of a kind, or one alike, as Claim does. Among runs and iterations that are not
// paused, are below their quota and do not wait for a down endpoint (SeeEndpoints), it selects
// the highest priority, then the run with the fewest held trajectories, then the oldest
// trajectory. CodeNotFound if there is nothing to claim.
//
// Claims skip locked rows, so they do not wait for each other. A quota is never exceeded:
// claims of a run with a quota run one after the other, and each counts after the previous one
// has committed.
func (s *Store) ClaimNext(ctx context.Context, owner string, kind relabel.TaskKind, lease time.Duration) (relabel.Claim, error) {
	var c relabel.Claim
	if err := checkClaim(owner, lease); err != nil {
		return c, err
	}
	err := s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, again bool) error {
		if again {
			if held, err := holds(ctx, tx, c.Fence); held || err != nil {
				return err
			}
		}
		candidates, err := listCandidates(ctx, tx, owner, kind)
		if err != nil {
			return err
		}
		for _, k := range candidates {
			id, err := k.next(ctx, tx)
			if err != nil {
				return err
			}
			if id != nil {
				c = relabel.Claim{Fence: relabel.Fence{TrajectoryID: *id, Owner: owner}}
				return claim(ctx, tx, &c, lease)
			}
		}
		return relabel.Errorf(relabel.CodeNotFound, "nothing to claim now")
	})
	if err != nil {
		return relabel.Claim{}, err
	}
	return c, nil
}

// listCandidates lists the iterations with tasks of the kind that owner may take a trajectory from, best
// first.
func listCandidates(ctx context.Context, tx pgx.Tx, owner string, kind relabel.TaskKind) ([]candidate, error) {
	var batch pgx.Batch
	batch.Queue("SELECT EXISTS (SELECT FROM endpoint_status WHERE down IS NOT NULL AND until > clock_timestamp())")
	batch.Queue(anyCandidates, kind.Alike())
	results := tx.SendBatch(ctx, &batch)
	var down bool
	if err := results.QueryRow().Scan(&down); err != nil {
		return nil, errors.Join(err, results.Close())
	}
	rows, _ := results.Query()
	candidates, err := pgx.CollectRows(rows, scanCandidate)
	if err = errors.Join(err, results.Close()); err != nil || !down {
		return candidates, err
	}
	rows, _ = tx.Query(ctx, candidatesSelect, kind.Alike(), owner)
	return pgx.CollectRows(rows, scanCandidate)
}

func scanCandidate(row pgx.CollectableRow) (k candidate, err error) {
	return k, row.Scan(&k.iteration, &k.run, &k.quota, &k.rollouts, &k.labels)
}

// next is oldest, for a run with a quota under the lock of its claims. The lock is held until
// the claim commits, so that the next count sees it. Without a trajectory it is released at
// once, so that nobody waits for one run's lock while holding another's.
func (k candidate) next(ctx context.Context, tx pgx.Tx) (id *relabel.ID, err error) {
	if k.quota == nil {
		return k.oldest(ctx, tx)
	}
	locked, err := tx.Begin(ctx) // a savepoint
	if err != nil {
		return nil, err
	}
	if _, err := locked.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended('quota of ' || $1::text, 0))", k.run.String()); err != nil {
		return nil, err
	}
	if id, err = k.oldest(ctx, locked); err != nil {
		return nil, err
	}
	if id == nil {
		return nil, locked.Rollback(ctx)
	}
	return id, locked.Commit(ctx)
}

// oldest locks the candidate's oldest queued trajectory that nobody else has locked; nil if
// there is none, or the run is at its quota.
func (k candidate) oldest(ctx context.Context, tx pgx.Tx) (*relabel.ID, error) {
	const rolling, ended = "AND end_reason IS NULL ", "AND end_reason IS NOT NULL "
	switch {
	case k.rollouts && k.labels:
		return k.oldestOf(ctx, tx, ended+"AND labels_pending = 0 ")
	case k.rollouts:
		return k.oldestOf(ctx, tx, ended)
	case k.labels:
		if id, err := k.oldestOf(ctx, tx, rolling); id != nil || err != nil {
			return id, err
		}
		return k.oldestOf(ctx, tx, ended+"AND labels_pending = 0 ")
	}
	return k.oldestOf(ctx, tx, "")
}

// oldestOf is oldest with a condition.
func (k candidate) oldestOf(ctx context.Context, tx pgx.Tx, condition string) (*relabel.ID, error) {
	id, err := readValue[relabel.ID](ctx, tx,
		`SELECT id FROM trajectories WHERE iteration_id = $1 AND state = 'queued' AND claimable_at <= clock_timestamp() `+condition+`
		AND ($3::integer IS NULL OR (SELECT count(*) FROM trajectories WHERE run_id = $2 AND owner IS NOT NULL) < $3)
		ORDER BY id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED`, k.iteration, k.run, k.quota)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return &id, err
}

// pauseValue is a pause with reason $2 and text $3.
const pauseValue = `json_build_object('reason', $2::text, 'text', $3::text,
	'since', to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))`

// PauseRun stops claims of the run's trajectories; workers release theirs after the current
// turn. A paused run keeps its first pause.
func (s *Store) PauseRun(ctx context.Context, id relabel.ID, reason relabel.PauseReason, text string) (relabel.Run, error) {
	return s.updateRun(ctx, id, "UPDATE runs SET paused = coalesce(paused, "+pauseValue+") WHERE id = $1", reason, validUTF8(text))
}

// ResumeRun ends a run's pause. Its iterations may have their own pauses. CodeConflict if its
// budget is spent.
func (s *Store) ResumeRun(ctx context.Context, id relabel.ID) (relabel.Run, error) {
	if err := s.budgetLeft(ctx, id); err != nil {
		return relabel.Run{}, err
	}
	return s.updateRun(ctx, id, "UPDATE runs SET paused = NULL WHERE id = $1")
}

// SetScheduling changes the mutable fields of a run. Workers keep trajectories beyond a smaller
// quota; a spent budget pauses the run at its next call. CodeInvalid for a value out of range.
func (s *Store) SetScheduling(ctx context.Context, id relabel.ID, to relabel.SchedulingChange) (relabel.Run, error) {
	var budget relabel.Budget
	if to.Budget != nil {
		budget = *to.Budget
	}
	hook := to.Webhook
	if hook != nil && hook.URL == "" {
		hook = nil
	}
	return s.updateRun(ctx, id, `UPDATE runs SET priority = coalesce($2, priority),
		quota = CASE WHEN $3::integer IS NULL THEN quota ELSE nullif($3, 0) END,
		budget_tokens = CASE WHEN $4 THEN nullif($5::bigint, 0) ELSE budget_tokens END,
		budget_micros = CASE WHEN $4 THEN nullif($6::bigint, 0) ELSE budget_micros END,
		webhook = CASE WHEN $7 THEN $8::json ELSE webhook END WHERE id = $1`,
		to.Priority, to.Quota, to.Budget != nil, budget.Tokens, budget.CostMicros(), to.Webhook != nil, hook)
}

func (s *Store) updateRun(ctx context.Context, id relabel.ID, sql string, args ...any) (relabel.Run, error) {
	return s.changeRun(ctx, id, func(tx pgx.Tx) error {
		return execOrElse(ctx, tx, func() error { return notFound("run", id, pgx.ErrNoRows) }, sql, append([]any{id}, args...)...)
	})
}

// changeRun changes a run in a transaction, balances the wake-ups and returns the run.
func (s *Store) changeRun(ctx context.Context, id relabel.ID, change func(tx pgx.Tx) error) (relabel.Run, error) {
	err := s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error { return change(tx) })
	if err == nil {
		err = s.BalanceWakeups(ctx)
	}
	if err != nil {
		return relabel.Run{}, err
	}
	return s.FindRun(ctx, id)
}

// PauseIteration pauses one iteration like PauseRun. CodeConflict if it is over.
func (s *Store) PauseIteration(ctx context.Context, id relabel.ID, reason relabel.PauseReason, text string) (relabel.Iteration, error) {
	return s.changeIteration(ctx, id, "UPDATE iterations SET paused = coalesce(paused, "+pauseValue+") WHERE id = $1 AND state = 'running'",
		reason, validUTF8(text))
}

// ResumeIteration ends an iteration's pause. Its run may still be paused.
func (s *Store) ResumeIteration(ctx context.Context, id relabel.ID) (relabel.Iteration, error) {
	return s.changeIteration(ctx, id, "UPDATE iterations SET paused = NULL WHERE id = $1 AND state = 'running'")
}

func (s *Store) changeIteration(ctx context.Context, id relabel.ID, sql string, args ...any) (relabel.Iteration, error) {
	var it relabel.Iteration
	err := s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		tag, err := tx.Exec(ctx, sql, append([]any{id}, args...)...)
		if err != nil {
			return err
		}
		if it, err = readIteration(ctx, tx, id); err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return relabel.Errorf(relabel.CodeConflict, "the iteration is %s", it.State)
		}
		return nil
	})
	if err != nil {
		return it, err
	}
	return it, s.BalanceWakeups(ctx)
}
