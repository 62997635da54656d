package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// candidatesSelect lists the iterations that a claim may take a trajectory from, best
// first: the highest priority, then the run of which workers hold the fewest, then the
// oldest trajectory. Each iteration is asked for its first queued one alone, and what is
// held is counted only where that makes a difference: what it costs grows with running
// iterations, and with held trajectories where several runs or a quota are to be judged.
//
// What an endpoint that is down holds back is passed over (outages.go). Queued trajectories
// whose rollout is over have an index of their own, and so have the others, so that neither
// kind is read in search of the other. While only labels are held back, rollouts go first.
var candidatesSelect = `WITH ` + withDown("$1") + `, able AS MATERIALIZED (
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

// anyCandidates is candidatesSelect for when no endpoint is down, which costs less.
const anyCandidates = `WITH able AS MATERIALIZED (
		SELECT it.id, it.run_id, ru.quota, ru.priority, oldest.id AS oldest, false AS rollouts, false AS labels
		FROM iterations it JOIN runs ru ON ru.id = it.run_id
		CROSS JOIN LATERAL (SELECT tr.id FROM trajectories tr WHERE tr.iteration_id = it.id AND tr.state = 'queued'
			AND tr.claimable_at <= clock_timestamp() ORDER BY tr.id LIMIT 1) oldest ` + judgeCandidates

// judgeCandidates is the end of both: it skips paused iterations and runs at their quota, and orders the others.
const judgeCandidates = `WHERE it.state = 'running' AND it.paused IS NULL AND ru.paused IS NULL),
	held AS MATERIALIZED (
		SELECT run_id, count(*) AS n FROM trajectories
		WHERE owner IS NOT NULL AND (SELECT count(DISTINCT run_id) > 1 OR count(quota) > 0 FROM able) GROUP BY run_id)
	SELECT able.id, able.run_id, able.quota, able.rollouts, able.labels FROM able LEFT JOIN held USING (run_id)
	WHERE able.quota IS NULL OR coalesce(held.n, 0) < able.quota
	ORDER BY able.priority DESC, coalesce(held.n, 0), able.oldest`

// candidate is an iteration with something to be claimed.
type candidate struct {
	iteration, run relabel.ID
	quota          *int
	rollouts       bool // an endpoint that is down holds them back
	labels         bool // and these
}

// ClaimNext gives owner the trajectory whose turn it is, as Claim does: of the runs and
// iterations that are not paused, below their quota and not waiting for an endpoint that is
// down (SeeEndpoints) those of the highest priority, of
// these the run with the fewest held trajectories, and of that its oldest one.
// CodeNotFound when nothing to claim now.
//
// Claimers pass over rows that another is at, so they do not wait for each other. A
// quota is never exceeded: the claims of a run that has one go one after the other, each
// counting after the one before has committed.
func (s *Store) ClaimNext(ctx context.Context, owner string, lease time.Duration) (relabel.Claim, error) {
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
		candidates, err := listCandidates(ctx, tx, owner)
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

// listCandidates lists the iterations that owner may take a trajectory from, best first.
func listCandidates(ctx context.Context, tx pgx.Tx, owner string) ([]candidate, error) {
	var batch pgx.Batch
	batch.Queue("SELECT EXISTS (SELECT FROM endpoint_status WHERE down IS NOT NULL AND until > clock_timestamp())")
	batch.Queue(anyCandidates)
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
	rows, _ = tx.Query(ctx, candidatesSelect, owner)
	return pgx.CollectRows(rows, scanCandidate)
}

func scanCandidate(row pgx.CollectableRow) (k candidate, err error) {
	return k, row.Scan(&k.iteration, &k.run, &k.quota, &k.rollouts, &k.labels)
}

// next is oldest, for a run with a quota from under the lock of its claims. That is held
// until the claim commits, so that the next one's count, a new statement, sees it; where
// nothing is to be claimed it is let go, so that nobody waits for a run's lock with
// another's in hand.
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

// oldest locks the candidate's oldest queued trajectory that no other claimer is at; nil
// if there is none, or no more room in the run's quota.
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

// oldestOf is oldest of those for which a condition holds.
func (k candidate) oldestOf(ctx context.Context, tx pgx.Tx, condition string) (*relabel.ID, error) {
	var id relabel.ID
	err := tx.QueryRow(ctx, `SELECT id FROM trajectories WHERE iteration_id = $1 AND state = 'queued' AND claimable_at <= clock_timestamp() `+condition+`
		AND ($3::integer IS NULL OR (SELECT count(*) FROM trajectories WHERE run_id = $2 AND owner IS NOT NULL) < $3)
		ORDER BY id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED`, k.iteration, k.run, k.quota).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return &id, err
}

// pauseValue makes a pause of $2 and $3.
const pauseValue = `json_build_object('reason', $2::text, 'text', $3::text,
	'since', to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))`

// PauseRun keeps what the run has queued if it is, and has its workers give back what
// they hold after the turn in hand. A run that is paused already keeps its first pause.
func (s *Store) PauseRun(ctx context.Context, id relabel.ID, reason relabel.PauseReason, text string) (relabel.Run, error) {
	return s.changeRun(ctx, id, "UPDATE runs SET paused = coalesce(paused, "+pauseValue+") WHERE id = $1", reason, validUTF8(text))
}

// ResumeRun ends a run's pause. Its iterations may still be paused by themselves.
// CodeConflict if its budget is spent.
func (s *Store) ResumeRun(ctx context.Context, id relabel.ID) (relabel.Run, error) {
	if err := s.budgetLeft(ctx, id); err != nil {
		return relabel.Run{}, err
	}
	return s.changeRun(ctx, id, "UPDATE runs SET paused = NULL WHERE id = $1")
}

// SetScheduling changes what of a run may change. What workers hold beyond a smaller quota
// they keep; a budget that is spent by now pauses the run at its next call. CodeInvalid
// where a value is out of range.
func (s *Store) SetScheduling(ctx context.Context, id relabel.ID, to relabel.SchedulingChange) (relabel.Run, error) {
	var budget relabel.Budget
	if to.Budget != nil {
		budget = *to.Budget
	}
	hook := to.Webhook
	if hook != nil && hook.URL == "" {
		hook = nil
	}
	return s.changeRun(ctx, id, `UPDATE runs SET priority = coalesce($2, priority),
		quota = CASE WHEN $3::integer IS NULL THEN quota ELSE nullif($3, 0) END,
		budget_tokens = CASE WHEN $4 THEN nullif($5::bigint, 0) ELSE budget_tokens END,
		budget_micros = CASE WHEN $4 THEN nullif($6::bigint, 0) ELSE budget_micros END,
		webhook = CASE WHEN $7 THEN $8::json ELSE webhook END WHERE id = $1`,
		to.Priority, to.Quota, to.Budget != nil, budget.Tokens, budget.CostMicros(), to.Webhook != nil, hook)
}

func (s *Store) changeRun(ctx context.Context, id relabel.ID, sql string, args ...any) (relabel.Run, error) {
	err := s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		tag, err := tx.Exec(ctx, sql, append([]any{id}, args...)...)
		if err == nil && tag.RowsAffected() == 0 {
			return notFound("run", id, pgx.ErrNoRows)
		}
		return err
	})
	if err == nil {
		err = s.BalanceWakeups(ctx)
	}
	if err != nil {
		return relabel.Run{}, err
	}
	return s.FindRun(ctx, id)
}

// PauseIteration pauses one iteration, as PauseRun a run. CodeConflict if it is over.
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
