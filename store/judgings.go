package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

const (
	// judgingColumns are those of judgings jo but the last answer.
	judgingColumns = `jo.id, tr.run_id, tr.iteration_id, jo.trajectory_id, ta.instance_id, jo.policy_id, jo.prompt, jo.state,
	coalesce(jo.failure, '') AS failure, jo.priority, jo.created_at, jo.started_at, jo.ended_at,
	coalesce(jo.outcome, '') AS outcome, coalesce(jo.reason, '') AS reason, coalesce(jo.mode, '') AS mode, jo.tool_use_error,
	coalesce(jo.explanation, '') AS explanation, coalesce(jo.turns, '{}') AS turns, jo.hidden_turns, jo.shortened_texts, jo.gold_shown, jo.answers, `
	ofJudgings = " AS answer FROM judgings jo JOIN trajectories tr ON tr.id = jo.trajectory_id JOIN tasks ta ON ta.id = tr.task_id"
)

// unresolvedDone are the trajectories tr of tasks ta that have a failure mode, computed or not.
const unresolvedDone = " ta.kind = 'repair' AND tr.state = 'done' AND tr.verdict <> 'cut' AND (NOT tr.submitted OR NOT tr.resolved) "

// judgeSelected are the ids of a JudgeSelection: $1, $2, $3 as in iterationSelected, $4 modes, $5 size of
// the sample or 0, $6 its seed. The draw depends only on the seed and on what each trajectory is a rollout
// of.
const judgeSelected = `SELECT tr.id FROM trajectories tr JOIN tasks ta ON ta.id = tr.task_id JOIN iterations it ON it.id = tr.iteration_id
	WHERE` + iterationSelected + "AND" + unresolvedDone + `AND (cardinality($4::text[]) = 0 OR tr.failure_mode = ANY ($4))
	ORDER BY sha256(convert_to(concat_ws('/', $6::bigint, it.kind, it.number, ta.instance_id, tr.generation), 'UTF8')), tr.id LIMIT nullif($5::bigint, 0)`

func judgeArgs(sel relabel.JudgeSelection, more ...any) []any {
	modes := []string{}
	for _, mode := range sel.Modes {
		modes = append(modes, string(mode))
	}
	return append([]any{sel.RunID, sel.IterationID, sel.Iteration, modes, sel.Sample, sel.Seed}, more...)
}

var nothingToJudge = relabel.Errorf(relabel.CodeConflict, "no selected trajectory is done and unresolved")

// StartJudging queues a judging of each selected trajectory by a policy with a prompt. A repeated request
// queues those again that have no judgement. CodeConflict if no selected trajectory is done and unresolved, or
// if the run is being deleted.
func (s *Store) StartJudging(ctx context.Context, sel relabel.JudgeSelection, policy relabel.ID, prompt relabel.JudgePrompt, priority int) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		if err := keepRun(ctx, tx, itself, sel.RunID); err != nil {
			return err
		}
		trajectories, err := readColumn[relabel.ID](ctx, tx, judgeSelected, judgeArgs(sel)...)
		switch {
		case err != nil:
			return err
		case len(trajectories) == 0:
			return nothingToJudge
		}
		if _, err := tx.Exec(ctx, "INSERT INTO judge_prompts (hash, version, gold, text) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
			prompt.Hash, prompt.Version, prompt.Gold, prompt.Text); err != nil {
			return err
		}
		again, err := tx.Exec(ctx, `UPDATE judgings SET state = 'queued', priority = $4, failure = NULL, outcome = NULL, reason = NULL, ended_at = NULL
			WHERE trajectory_id = ANY ($1) AND policy_id = $2 AND prompt = $3 AND state IN ('done', 'failed', 'cancelled') AND mode IS NULL`,
			trajectories, policy, prompt.Hash, priority)
		if err != nil {
			return err
		}
		ids := make([]relabel.ID, len(trajectories))
		for i := range ids {
			ids[i] = relabel.NewID()
		}
		added, err := tx.Exec(ctx, `INSERT INTO judgings (id, trajectory_id, attempt, policy_id, prompt, priority)
			SELECT n.id, tr.id, tr.trail, $3, $4, $5 FROM unnest($1::uuid[], $2::uuid[]) AS n(id, trajectory) JOIN trajectories tr ON tr.id = n.trajectory
			ON CONFLICT (trajectory_id, policy_id, prompt) DO NOTHING`, ids, trajectories, policy, prompt.Hash, priority)
		if err != nil {
			return err
		}
		return s.wakeLabellers(ctx, tx, relabel.JudgeJob{}, int(again.RowsAffected()+added.RowsAffected()))
	})
}

// The sizes that an estimate of judgings assumes.
const (
	judgedBytesPerToken = 4
	judgeAnswerTokens   = 400
)

// EstimateJudging sums up the selected trajectories that have no judgement of the policy with the prompt.
// CodeConflict if no selected trajectory is done and unresolved.
func (s *Store) EstimateJudging(ctx context.Context, sel relabel.JudgeSelection, policy relabel.Policy, prompt relabel.JudgePrompt) (relabel.JudgeEstimate, error) {
	e := relabel.JudgeEstimate{Prompt: prompt.Hash}
	var some bool
	err := s.pool.QueryRow(ctx, `WITH selected AS (`+judgeSelected+`)
		SELECT EXISTS (SELECT FROM selected), count(x.id), coalesce(sum(least((x.size + $9) / $10, $11)), 0)::bigint
		FROM (SELECT tr.id, octet_length(ta.problem_statement) + coalesce((SELECT octet_length(p.patch) FROM patches p WHERE p.trajectory_id = tr.id), 0)
				+ CASE WHEN $12 THEN octet_length(ta.patch) ELSE 0 END
				+ coalesce((SELECT sum(octet_length(a.raw)) FROM turns tu JOIN actions a
					ON (a.trajectory_id, a.attempt, a.t, a.policy_id, a.sample) = (tu.trajectory_id, tu.attempt, tu.t, tu.executor_policy_id, tu.executor_sample)
					WHERE tu.trajectory_id = tr.id AND tu.attempt = tr.trail), 0)
				+ coalesce((SELECT sum(octet_length(o.content)) FROM observations o WHERE o.trajectory_id = tr.id AND o.attempt = tr.trail), 0) AS size
			FROM selected se JOIN trajectories tr ON tr.id = se.id JOIN tasks ta ON ta.id = tr.task_id
			WHERE NOT EXISTS (SELECT FROM judgings jo WHERE (jo.trajectory_id, jo.policy_id, jo.prompt) = (tr.id, $7, $8) AND jo.mode IS NOT NULL)) x`,
		judgeArgs(sel, policy.ID, prompt.Hash, len(prompt.Text), judgedBytesPerToken, relabel.JudgeContext(policy), prompt.Gold)...).
		Scan(&some, &e.Trajectories, &e.Tokens)
	switch {
	case err != nil:
		return e, classify(err)
	case !some:
		return e, nothingToJudge
	}
	e.MostCalls, e.AnswerTokens = e.Trajectories*relabel.MostJudgeAnswers, int64(e.Trajectories)*judgeAnswerTokens
	if policy.Price != nil {
		e.Currency = policy.Price.Currency
		e.LeastCostMicros = policy.Price.CostMicros(&relabel.Usage{PromptTokens: int(e.Tokens), CompletionTokens: int(e.AnswerTokens)})
		e.MostCostMicros = policy.Price.CostMicros(&relabel.Usage{PromptTokens: int(e.Tokens) * relabel.MostJudgeAnswers, CompletionTokens: int(e.AnswerTokens) * relabel.MostJudgeAnswers})
	}
	return e, nil
}

// FindJudging returns a judging with the last answer; CodeNotFound if there is none.
func (s *Store) FindJudging(ctx context.Context, id relabel.ID) (relabel.Judging, error) {
	return find[relabel.Judging](ctx, s, "judging", id, "SELECT "+judgingColumns+"coalesce(jo.answer, '')"+ofJudgings+" WHERE jo.id = $1", id)
}

// ListJudgings lists the judgings that match the filter, newest first, without the last answers. CodeInvalid
// for an invalid page.
func (s *Store) ListJudgings(ctx context.Context, f relabel.JudgingFilter, p relabel.Page) ([]relabel.Judging, string, error) {
	l := list[relabel.Judging]{query: "SELECT " + judgingColumns + "''" + ofJudgings, key: "jo",
		keyOf: func(j relabel.Judging) cursor { return cursor{j.CreatedAt, j.ID} }}
	narrow(&l.queryBuilder, "tr.run_id = %s", f.RunID)
	narrow(&l.queryBuilder, "tr.iteration_id = %s", f.IterationID)
	narrow(&l.queryBuilder, "jo.trajectory_id = %s", f.TrajectoryID)
	narrow(&l.queryBuilder, "jo.policy_id = %s", f.PolicyID)
	narrow(&l.queryBuilder, "jo.state = %s", f.State)
	narrow(&l.queryBuilder, "jo.outcome = %s", f.Outcome)
	return l.page(ctx, s, p)
}

// JudgeProgress sums the judgings of the selected iterations up, by iteration, policy and prompt. With Modes
// or Sample they are those of the trajectories that StartJudging would select now.
func (s *Store) JudgeProgress(ctx context.Context, sel relabel.JudgeSelection) ([]relabel.JudgeProgress, error) {
	only, args := "", []any{sel.RunID, sel.IterationID, sel.Iteration}
	if len(sel.Modes) > 0 || sel.Sample > 0 {
		only, args = "AND jo.trajectory_id IN ("+judgeSelected+") ", judgeArgs(sel)
	}
	rows, _ := s.pool.Query(ctx, `SELECT it.id, it.kind, it.number, jo.policy_id, jo.prompt, jo.state, coalesce(jo.outcome, ''), coalesce(jo.failure, jo.reason, ''), count(*)
		FROM judgings jo JOIN trajectories tr ON tr.id = jo.trajectory_id JOIN iterations it ON it.id = tr.iteration_id
		WHERE`+iterationSelected+only+`GROUP BY it.id, jo.policy_id, jo.prompt, jo.state, jo.outcome, 8
		ORDER BY it.kind, it.number, it.id, jo.policy_id, jo.prompt`, args...)
	var all []relabel.JudgeProgress
	var part relabel.JudgeProgress
	var state relabel.JudgingState
	var outcome relabel.JudgeOutcome
	var reason string
	var n int
	fields := []any{&part.IterationID, &part.Kind, &part.Number, &part.PolicyID, &part.Prompt, &state, &outcome, &reason, &n}
	_, err := pgx.ForEachRow(rows, fields, func() error {
		last := len(all) - 1
		if last < 0 || all[last].IterationID != part.IterationID || all[last].PolicyID != part.PolicyID || all[last].Prompt != part.Prompt {
			all = append(all, relabel.JudgeProgress{IterationID: part.IterationID, Kind: part.Kind, Number: part.Number, PolicyID: part.PolicyID,
				Prompt: part.Prompt, Judgings: map[relabel.JudgingState]int{}, Outcomes: map[relabel.JudgeOutcome]int{}})
			last++
		}
		all[last].Judgings[state] += n
		if outcome != "" {
			all[last].Outcomes[outcome] += n
		}
		if reason != "" {
			all[last].Reasons = relabel.AddReasons(all[last].Reasons, []relabel.ReasonCount{{Reason: reason, Count: n}})
		}
		return nil
	})
	for i := range all {
		all[i].Reasons = relabel.FirstReasons(all[i].Reasons)
	}
	return all, classify(err)
}

// CancelJudgings cancels and counts the open judgings of the selected iterations, of one policy or (nil) of
// all. Judgements stay.
func (s *Store) CancelJudgings(ctx context.Context, sel relabel.JudgeSelection, policy *relabel.ID) (cancelled int, err error) {
	return s.cancelPolicyJobs(ctx, "judgings", sel.RunID, sel.IterationID, sel.Iteration, policy)
}

const judgePromptSelect = "SELECT jp.hash, jp.version, jp.gold, jp.text FROM judge_prompts jp"

// FindJudgePrompt returns a prompt by its hash; CodeNotFound if there is none.
func (s *Store) FindJudgePrompt(ctx context.Context, hash string) (relabel.JudgePrompt, error) {
	return find[relabel.JudgePrompt](ctx, s, "prompt", hash, judgePromptSelect+" WHERE jp.hash = $1", validUTF8(hash))
}

// ListJudgeTallies counts the judgings that are done of a run's unresolved trajectories with a current
// computed mode; none if there is no such run.
func (s *Store) ListJudgeTallies(ctx context.Context, run relabel.ID) ([]relabel.JudgeTally, error) {
	return listAll[relabel.JudgeTally](ctx, s, `SELECT tr.iteration_id, tr.task_id, jo.policy_id, jo.prompt, jp.version AS prompt_version, jp.gold, tr.submitted, tr.failure_mode AS mode,
		coalesce(tr.tool_use_error, false) AS tool_use_error, jo.outcome, coalesce(jo.mode, '') AS judged_mode, coalesce(jo.tool_use_error, false) AS judged_tool_use,
		count(*) AS count, sum(jo.hidden_turns) AS hidden_turns, sum(jo.shortened_texts) AS shortened_texts
		FROM judgings jo JOIN trajectories tr ON tr.id = jo.trajectory_id JOIN judge_prompts jp ON jp.hash = jo.prompt
		WHERE tr.run_id = $1 AND tr.failure_mode IS NOT NULL AND tr.failure_rules >= $2 AND jo.state = 'done'
		GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 ORDER BY 3, 4, 1, 2`, run, relabel.FailureRules)
}

// ClaimJudging claims the next judging as ClaimRelabeling claims a relabeling. CodeNotFound if there is none.
func (s *Store) ClaimJudging(ctx context.Context, owner string, lease time.Duration) (relabel.JudgeClaim, error) {
	var c relabel.JudgeClaim
	err := s.retryTx(ctx, failOnUnclear, func(tx pgx.Tx, _ bool) error {
		c = relabel.JudgeClaim{JudgeFence: relabel.JudgeFence{Owner: owner}}
		var trajectory, policy relabel.ID
		var attempt int
		var prompt string
		err := claimPolicyJob(ctx, tx, "judgings", owner, lease, "id, claim, trajectory_id, policy_id, attempt, prompt",
			&c.JudgingID, &c.Claim, &trajectory, &policy, &attempt, &prompt)
		if err != nil {
			return err
		}
		return readJudging(ctx, tx, &c, trajectory, policy, attempt, prompt)
	})
	return c, err
}

func readJudging(ctx context.Context, tx pgx.Tx, c *relabel.JudgeClaim, trajectory, policy relabel.ID, attempt int, prompt string) error {
	var err error
	if c.Evidence, err = readEvidence(ctx, tx, trajectory); err != nil {
		return err
	}
	b := &pgx.Batch{}
	readInto(b, &c.Task, scanTask, taskSelect+" WHERE ta.id = $1", c.Evidence.Trajectory.TaskID)
	readInto(b, &c.Run, pgx.RowToStructByName[relabel.Run], runSelect+" WHERE ru.id = $1", c.Evidence.Trajectory.RunID)
	readInto(b, &c.Policy, pgx.RowToStructByName[relabel.Policy], policySelect+" WHERE po.id = $1", policy)
	readInto(b, &c.Prompt, pgx.RowToStructByName[relabel.JudgePrompt], judgePromptSelect+" WHERE jp.hash = $1", prompt)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	c.Turns, err = readTurns(ctx, tx, trajectory, attempt, 1, allTurns)
	return err
}

// RenewJudging extends the lease and reports whether the run or iteration is paused. CodeLeaseLost if the
// fence does not hold (cancelled or taken over), here and below.
func (s *Store) RenewJudging(ctx context.Context, f relabel.JudgeFence, lease time.Duration) (paused bool, err error) {
	return s.renewPolicyJob(ctx, ofJudging(f), lease)
}

// ReleaseJudging returns the judging to the queue.
func (s *Store) ReleaseJudging(ctx context.Context, f relabel.JudgeFence) error {
	return s.releasePolicyJob(ctx, ofJudging(f))
}

// FailJudging moves the judging to failed, with a reason that is safe to show.
func (s *Store) FailJudging(ctx context.Context, f relabel.JudgeFence, reason string) error {
	return s.failPolicyJob(ctx, ofJudging(f), reason)
}

// FinishJudging stores what the judge said and moves the judging to done. CodeInvalid for a judgement
// without an outcome, or with a mode that does not fit it.
func (s *Store) FinishJudging(ctx context.Context, f relabel.JudgeFence, j relabel.Judgement) error {
	judged := j.Outcome == relabel.Judged
	if j.Outcome == "" || judged != (j.Mode != "") || judged != (j.ToolUseError != nil) || judged == (j.Reason != "") {
		return relabel.Errorf(relabel.CodeInvalid, "a judgement has either a mode or a reason").On("outcome")
	}
	var mode, explanation, reason *string
	var turns []int
	if judged {
		text := validUTF8(j.Explanation)
		mode, explanation, turns = new(string(j.Mode)), &text, append([]int{}, j.Turns...)
	} else {
		reason = new(validUTF8(j.Reason))
	}
	return s.changeJob(ctx, ofJudging(f), `state = 'done', owner = NULL, lease_until = NULL, ended_at = clock_timestamp(), outcome = $4, reason = $5, mode = $6,
		tool_use_error = $7, explanation = $8, turns = $9, hidden_turns = $10, shortened_texts = $11, gold_shown = $12, answers = $13, answer = $14`, "done",
		j.Outcome, reason, mode, j.ToolUseError, explanation, turns, j.HiddenTurns, j.ShortenedTexts, j.GoldShown, j.Answers, validUTF8(j.Answer))
}
