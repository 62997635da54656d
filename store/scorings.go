package store

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

const scoringSelect = `SELECT sc.id, tr.run_id, tr.iteration_id, sc.trajectory_id, ta.instance_id, sc.policy_id, sc.top_k, sc.state,
	coalesce(sc.failure, '') AS failure, sc.priority, sc.turns, sc.received, sc.missing, sc.pending, sc.tokens,
	sc.created_at, sc.started_at, sc.ended_at
	FROM scorings sc JOIN trajectories tr ON tr.id = sc.trajectory_id JOIN tasks ta ON ta.id = tr.task_id`

// scorable are those of them that can be scored.
const scorable = " FROM trajectories tr WHERE" + iterationSelected + "AND tr.state = 'done' AND tr.turns > tr.teacher_turns "

func scoreArgs(sel relabel.ScoreSelection, more ...any) []any {
	return append([]any{sel.RunID, sel.IterationID, sel.Iteration}, more...)
}

// StartScoring queues a scoring of each selected trajectory by a policy. A repeated request queues those
// again that lack scores. CodeConflict if no selected trajectory is done with a turn of a student, if the
// policy has scores of one with another topK or is to give them, or if the run is being deleted.
func (s *Store) StartScoring(ctx context.Context, sel relabel.ScoreSelection, policy relabel.ID, topK, priority int) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		if err := keepRun(ctx, tx, itself, sel.RunID); err != nil {
			return err
		}
		// One request at a time: another may ask for another topK.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended('scoring of ' || $1::text, 0))", sel.RunID.String()); err != nil {
			return err
		}
		trajectories, err := readColumn[relabel.ID](ctx, tx, "SELECT tr.id"+scorable+"ORDER BY tr.id", scoreArgs(sel)...)
		switch {
		case err != nil:
			return err
		case len(trajectories) == 0:
			return nothingToScore
		}
		if err := sameTopK(ctx, tx, trajectories, policy, topK); err != nil {
			return err
		}
		again, err := scoreAgain(ctx, tx, trajectories, policy, topK, priority)
		if err != nil {
			return err
		}
		ids := make([]relabel.ID, len(trajectories))
		for i := range ids {
			ids[i] = relabel.NewID()
		}
		tag, err := tx.Exec(ctx, `INSERT INTO scorings (id, trajectory_id, attempt, policy_id, top_k, priority, turns, pending)
			SELECT n.id, tr.id, tr.trail, $3, $4, $5, tr.turns - tr.teacher_turns, tr.turns - tr.teacher_turns
			FROM unnest($1::uuid[], $2::uuid[]) AS n(id, trajectory) JOIN trajectories tr ON tr.id = n.trajectory
			ON CONFLICT (trajectory_id, policy_id) DO NOTHING`, ids, trajectories, policy, topK, priority)
		if err != nil {
			return err
		}
		return s.wakeLabellers(ctx, tx, relabel.ScoreJob{}, again+int(tag.RowsAffected()))
	})
}

// ListScoredStudents lists the students that acted in the selected trajectories that can be scored.
func (s *Store) ListScoredStudents(ctx context.Context, sel relabel.ScoreSelection) ([]relabel.Policy, error) {
	return listAll[relabel.Policy](ctx, s, policySelect+` WHERE po.id IN (SELECT it.student_id FROM iterations it
		WHERE it.id IN (SELECT tr.iteration_id`+scorable+`)) ORDER BY po.name, po.version`, scoreArgs(sel)...)
}

// sameTopK refuses trajectories of which the policy has scores with another topK, or is to give them: their
// scores would be of two kinds. An ended scoring without any binds nobody.
func sameTopK(ctx context.Context, tx pgx.Tx, trajectories []relabel.ID, policy relabel.ID, topK int) error {
	other, err := readColumn[int](ctx, tx, `SELECT top_k FROM scorings WHERE trajectory_id = ANY ($1) AND policy_id = $2 AND top_k <> $3
			AND (received > 0 OR state IN ('queued', 'running')) LIMIT 1`,
		trajectories, policy, topK)
	if err != nil || len(other) == 0 {
		return err
	}
	return relabel.Errorf(relabel.CodeConflict, "the policy has scored trajectories of this selection with top_k %d, or is to; ask for the same", other[0]).On("top_k")
}

// scoreAgain requeues ended scorings that lack scores, with this topK, deletes their missing ones, and
// counts the scorings.
func scoreAgain(ctx context.Context, tx pgx.Tx, trajectories []relabel.ID, policy relabel.ID, topK, priority int) (int, error) {
	again, err := readColumn[relabel.ID](ctx, tx,
		`UPDATE scorings SET state = 'queued', top_k = $3, priority = $4, pending = pending + missing, missing = 0, failure = NULL, ended_at = NULL
		WHERE trajectory_id = ANY ($1) AND policy_id = $2 AND state IN ('done', 'failed', 'cancelled') AND missing + pending > 0 RETURNING trajectory_id`,
		trajectories, policy, topK, priority)
	if err != nil || len(again) == 0 {
		return 0, err
	}
	_, err = tx.Exec(ctx, "DELETE FROM scores WHERE trajectory_id = ANY ($1) AND policy_id = $2 AND reason IS NOT NULL", again, policy)
	return len(again), err
}

// EstimateScoring sums up the selected trajectories' turns that have no score of the policy, those that
// cannot be scored included. CodeConflict if no selected trajectory is done with a turn of a student.
func (s *Store) EstimateScoring(ctx context.Context, sel relabel.ScoreSelection, policy relabel.Policy, topK int) (relabel.ScoreEstimate, error) {
	var e relabel.ScoreEstimate
	var some bool
	err := s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT`+scorable+`), count(DISTINCT x.id), count(*), count(*) FILTER (WHERE x.sampled IS NULL),
			coalesce(sum(x.sampled), 0)::bigint, coalesce(sum(x.text) FILTER (WHERE x.last), 0)::bigint, coalesce(sum(x.text), 0)::bigint
		FROM (SELECT tr.id, CASE WHEN a.prompt_rest IS NOT NULL THEN cardinality(a.token_ids) END AS sampled,
				CASE WHEN a.prompt_rest IS NOT NULL AND a.token_ids IS NOT NULL
					THEN coalesce(a.prompt_tokens, coalesce(a.prompt_shared, 0) + cardinality(a.prompt_rest)) + cardinality(a.token_ids) END AS text,
				row_number() OVER (PARTITION BY tr.id ORDER BY (a.prompt_rest IS NULL OR a.token_ids IS NULL), tu.t DESC) = 1 AS last
			FROM (SELECT tr.id, tr.trail`+scorable+`) tr
			JOIN turns tu ON tu.trajectory_id = tr.id AND tu.attempt = tr.trail AND tu.executor = 'student'
			JOIN actions a ON (a.trajectory_id, a.attempt, a.t, a.policy_id, a.sample) = (tu.trajectory_id, tu.attempt, tu.t, tu.executor_policy_id, tu.executor_sample)
			WHERE NOT EXISTS (SELECT 1 FROM scores so WHERE (so.trajectory_id, so.attempt, so.t, so.policy_id) = (tu.trajectory_id, tu.attempt, tu.t, $4)
				AND so.reason IS NULL)) x`, scoreArgs(sel, policy.ID)...).
		Scan(&some, &e.Trajectories, &e.Turns, &e.WithoutIDs, &e.Tokens, &e.LeastPrompt, &e.MostPrompt)
	switch {
	case err != nil:
		return e, classify(err)
	case !some:
		return e, nothingToScore
	}
	e.Bytes = e.Tokens * int64(4+8*topK)
	if policy.Price != nil {
		e.Currency = policy.Price.Currency
		e.LeastCostMicros = policy.Price.CostMicros(&relabel.Usage{PromptTokens: int(e.LeastPrompt)})
		e.MostCostMicros = policy.Price.CostMicros(&relabel.Usage{PromptTokens: int(e.MostPrompt)})
	}
	return e, nil
}

var nothingToScore = relabel.Errorf(relabel.CodeConflict, "no trajectory with a turn of a student is done")

// FindScoring returns a scoring; CodeNotFound if there is none.
func (s *Store) FindScoring(ctx context.Context, id relabel.ID) (relabel.Scoring, error) {
	return find[relabel.Scoring](ctx, s, "scoring", id, scoringSelect+" WHERE sc.id = $1", id)
}

// ListScorings lists the scorings that match the filter, newest first. CodeInvalid for an invalid page.
func (s *Store) ListScorings(ctx context.Context, f relabel.ScoringFilter, p relabel.Page) ([]relabel.Scoring, string, error) {
	l := list[relabel.Scoring]{query: scoringSelect, key: "sc",
		keyOf: func(r relabel.Scoring) cursor { return cursor{r.CreatedAt, r.ID} }}
	narrow(&l.queryBuilder, "tr.run_id = %s", f.RunID)
	narrow(&l.queryBuilder, "tr.iteration_id = %s", f.IterationID)
	narrow(&l.queryBuilder, "sc.trajectory_id = %s", f.TrajectoryID)
	narrow(&l.queryBuilder, "sc.policy_id = %s", f.PolicyID)
	narrow(&l.queryBuilder, "sc.state = %s", f.State)
	return l.page(ctx, s, p)
}

// ScoreProgress sums the selected scorings up, by iteration and policy.
func (s *Store) ScoreProgress(ctx context.Context, sel relabel.ScoreSelection) ([]relabel.ScoreProgress, error) {
	rows, _ := s.pool.Query(ctx, `SELECT it.id, it.kind, it.number, sc.policy_id, sc.state, count(*), sum(sc.turns), sum(sc.received), sum(sc.missing), sum(sc.pending),
			sum(sc.tokens)::bigint
		FROM scorings sc JOIN trajectories tr ON tr.id = sc.trajectory_id JOIN iterations it ON it.id = tr.iteration_id
		WHERE`+iterationSelected+`GROUP BY it.id, sc.policy_id, sc.state ORDER BY it.kind, it.number, it.id, sc.policy_id`, scoreArgs(sel)...)
	var all []relabel.ScoreProgress
	var part relabel.ScoreProgress
	var state relabel.ScoringState
	var n int
	fields := []any{&part.IterationID, &part.Kind, &part.Number, &part.PolicyID, &state, &n,
		&part.Turns, &part.Received, &part.Missing, &part.Pending, &part.Tokens}
	_, err := pgx.ForEachRow(rows, fields, func() error {
		last := len(all) - 1
		if last < 0 || all[last].IterationID != part.IterationID || all[last].PolicyID != part.PolicyID {
			all = append(all, relabel.ScoreProgress{IterationID: part.IterationID, Kind: part.Kind, Number: part.Number,
				PolicyID: part.PolicyID, Scorings: map[relabel.ScoringState]int{}})
			last++
		}
		part.Scorings = map[relabel.ScoringState]int{state: n}
		all[last].Add(part)
		return nil
	})
	if err != nil {
		return nil, classify(err)
	}
	return all, s.addScoreReasons(ctx, sel, all)
}

// addScoreReasons adds why turns have no score. A failed scoring counts for its pending turns.
func (s *Store) addScoreReasons(ctx context.Context, sel relabel.ScoreSelection, all []relabel.ScoreProgress) error {
	var iteration, policy relabel.ID
	var reason relabel.ReasonCount
	rows, _ := s.pool.Query(ctx, `SELECT x.iteration_id, x.policy_id, x.reason, x.n
		FROM (SELECT tr.iteration_id, sc.policy_id, r.reason, sum(r.n) AS n,
				row_number() OVER (PARTITION BY tr.iteration_id, sc.policy_id ORDER BY sum(r.n) DESC, r.reason) AS place
			FROM scorings sc JOIN trajectories tr ON tr.id = sc.trajectory_id
			CROSS JOIN LATERAL (SELECT so.reason, 1 AS n FROM scores so
				WHERE sc.missing > 0 AND (so.trajectory_id, so.attempt, so.policy_id) = (sc.trajectory_id, sc.attempt, sc.policy_id) AND so.reason IS NOT NULL
				UNION ALL SELECT sc.failure, sc.pending WHERE sc.state = 'failed') r
			WHERE`+iterationSelected+`GROUP BY 1, 2, 3) x
		WHERE x.place <= $4 ORDER BY x.place`, scoreArgs(sel, relabel.MostReasons)...)
	_, err := pgx.ForEachRow(rows, []any{&iteration, &policy, &reason.Reason, &reason.Count}, func() error {
		for i := range all {
			if all[i].IterationID == iteration && all[i].PolicyID == policy {
				all[i].Reasons = append(all[i].Reasons, reason)
			}
		}
		return nil
	})
	return classify(err)
}

// CancelScorings cancels and counts the selected open scorings, of one policy or (nil) of all. Received
// scores stay.
func (s *Store) CancelScorings(ctx context.Context, sel relabel.ScoreSelection, policy *relabel.ID) (cancelled int, err error) {
	return s.cancelPolicyJobs(ctx, "scorings", sel.RunID, sel.IterationID, sel.Iteration, policy)
}

// ClaimScoring claims the next scoring as ClaimRelabeling claims a relabeling. CodeNotFound if there is
// none.
func (s *Store) ClaimScoring(ctx context.Context, owner string, lease time.Duration) (relabel.ScoreClaim, error) {
	var c relabel.ScoreClaim
	err := s.retryTx(ctx, failOnUnclear, func(tx pgx.Tx, _ bool) error {
		c = relabel.ScoreClaim{ScoreFence: relabel.ScoreFence{Owner: owner}}
		var trajectory, policy relabel.ID
		var attempt int
		err := claimPolicyJob(ctx, tx, "scorings", owner, lease, "id, claim, trajectory_id, policy_id, attempt, top_k",
			&c.ScoringID, &c.Claim, &trajectory, &policy, &attempt, &c.TopK)
		if err != nil {
			return err
		}
		return readScoring(ctx, tx, &c, trajectory, policy, attempt)
	})
	return c, err
}

func readScoring(ctx context.Context, tx pgx.Tx, c *relabel.ScoreClaim, trajectory, policy relabel.ID, attempt int) error {
	b := &pgx.Batch{}
	readInto(b, &c.Trajectory, pgx.RowToStructByName[relabel.Trajectory], trajectorySelect+" WHERE tr.id = $1", trajectory)
	readInto(b, &c.Policy, pgx.RowToStructByName[relabel.Policy], policySelect+" WHERE po.id = $1", policy)
	queueRead(b, &c.Pending, func(row pgx.CollectableRow) (p relabel.ScoreTurn, err error) {
		return p, row.Scan(&p.T, &p.PolicyID, &p.TokenIDs)
	}, `SELECT tu.t, a.policy_id, a.token_ids FROM turns tu JOIN actions a
			ON (a.trajectory_id, a.attempt, a.t, a.policy_id, a.sample) = (tu.trajectory_id, tu.attempt, tu.t, tu.executor_policy_id, tu.executor_sample)
		WHERE tu.trajectory_id = $1 AND tu.attempt = $2 AND tu.executor = 'student' AND NOT EXISTS (SELECT 1 FROM scores so
			WHERE (so.trajectory_id, so.attempt, so.t, so.policy_id) = (tu.trajectory_id, tu.attempt, tu.t, $3)) ORDER BY tu.t`,
		trajectory, attempt, policy)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	return addScoredPrompts(ctx, tx, c, trajectory, attempt)
}

// addScoredPrompts adds the students and the prompts of their turns.
func addScoredPrompts(ctx context.Context, tx pgx.Tx, c *relabel.ScoreClaim, trajectory relabel.ID, attempt int) error {
	var ids []relabel.ID
	all := map[relabel.ID]prompts{}
	for i := range c.Pending {
		turn := &c.Pending[i]
		if !slices.Contains(ids, turn.PolicyID) {
			ids = append(ids, turn.PolicyID)
			of, err := readPrompts(ctx, tx, trajectory, attempt, turn.PolicyID)
			if err != nil {
				return err
			}
			all[turn.PolicyID] = of
		}
		turn.PromptIDs = all[turn.PolicyID].rebuild(place{turn.T, 0})
	}
	rows, _ := tx.Query(ctx, policySelect+" WHERE po.id = ANY ($1) ORDER BY po.id", ids)
	var err error
	c.Students, err = pgx.CollectRows(rows, pgx.RowToStructByName[relabel.Policy])
	return err
}

// RenewScoring extends the lease and reports whether the run or iteration is paused. CodeLeaseLost if the
// fence does not hold (cancelled or taken over), here and below.
func (s *Store) RenewScoring(ctx context.Context, f relabel.ScoreFence, lease time.Duration) (paused bool, err error) {
	return s.renewPolicyJob(ctx, ofScoring(f), lease)
}

// ReleaseScoring returns the scoring to the queue.
func (s *Store) ReleaseScoring(ctx context.Context, f relabel.ScoreFence) error {
	return s.releasePolicyJob(ctx, ofScoring(f))
}

// FinishScoring moves a scoring without pending turns to done.
func (s *Store) FinishScoring(ctx context.Context, f relabel.ScoreFence) error {
	return s.finishPolicyJob(ctx, ofScoring(f))
}

// FailScoring moves the scoring to failed, with a reason that is safe to show.
func (s *Store) FailScoring(ctx context.Context, f relabel.ScoreFence, reason string) error {
	return s.failPolicyJob(ctx, ofScoring(f), reason)
}
