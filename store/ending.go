package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// EndRollout stores the end reason and the patch, and moves running to labelling.
// CodeLeaseLost if the fence does not hold, here and below.
func (s *Store) EndRollout(ctx context.Context, f relabel.Fence, end relabel.Ending) error {
	st := step{to: relabel.Labelling, tried: "end its rollout",
		set:  "state = 'labelling', end_reason = $4, patch_bytes = $5, submitted = $6",
		when: "AND state = 'running' AND trail = attempt",
		args: []any{end.Reason, len(end.Patch), end.Submitted}}
	return s.take(ctx, f, st, func(tx pgx.Tx, _ relabel.ID) error {
		_, err := tx.Exec(ctx, "INSERT INTO patches (trajectory_id, patch) VALUES ($1, coalesce($2, ''::bytea))", f.TrajectoryID, end.Patch)
		return err
	})
}

// AwaitLabels releases a trajectory in labelling with pending labels. Its attempt ends, and it
// has no owner until its iteration's labelling begins: at once, if this was the last rollout.
func (s *Store) AwaitLabels(ctx context.Context, f relabel.Fence) error {
	var iteration relabel.ID
	st := step{to: relabel.Labelling, outcome: "released", reason: "its rollout is over: its labels are asked for later", tried: "wait for its labels",
		set: "owner = NULL, lease_until = NULL", when: "AND state = 'labelling'"}
	err := s.take(ctx, f, st, func(_ pgx.Tx, of relabel.ID) error {
		iteration = of
		return nil
	})
	if err != nil || iteration == (relabel.ID{}) {
		return err
	}
	return s.beginLabelling(ctx, iteration)
}

// BeginVerifying moves labelling to verifying. CodeConflict while a label is pending.
func (s *Store) BeginVerifying(ctx context.Context, f relabel.Fence) error {
	return s.take(ctx, f, step{to: relabel.Verifying, tried: "be verified, or still has a pending label",
		set: "state = 'verifying'", when: "AND state = 'labelling' AND labels_pending = 0"}, nil)
}

// Finish stores the verdict and moves verifying to done. The last trajectory also ends the
// iteration.
func (s *Store) Finish(ctx context.Context, f relabel.Fence, v relabel.Verdict) error {
	var passed *bool // nil if the verifier broke, or the verdict is on a ranked answer
	var reason *string
	var protections *int
	if v.Infra == "" {
		reason = new(validUTF8(string(v.Reason)))
	}
	if v.Infra == "" && v.Hits == nil {
		passed, protections = &v.Passed, &v.Protections
	}
	st := step{to: relabel.Done, outcome: "done", tried: "finish", args: []any{passed, reason, protections, v.Score, v.Hits},
		set:  "state = 'done', passed = $4, verdict_reason = $5, protections = $6, score = $7, hits = $8, owner = NULL, lease_until = NULL, ended_at = clock_timestamp()",
		when: "AND state = 'verifying'"}
	return s.take(ctx, f, st, func(tx pgx.Tx, iteration relabel.ID) error {
		if err := insertVerdict(ctx, tx, f.TrajectoryID, f.Attempt, v); err != nil {
			return err
		}
		return endTrajectory(ctx, tx, iteration)
	})
}

// FinishUnverified moves verifying to done without a verdict, for a trajectory that is not to be
// verified, whose label rule ended the rollout, or whose prompt was too long. Like Finish, the last one ends the iteration.
func (s *Store) FinishUnverified(ctx context.Context, f relabel.Fence) error {
	st := step{to: relabel.Done, outcome: "done", tried: "finish without a verdict",
		set:  "state = 'done', owner = NULL, lease_until = NULL, ended_at = clock_timestamp()",
		when: "AND state = 'verifying' AND (skip_verify OR end_reason IN ('teacher_turns', 'prompt_too_long'))"}
	return s.take(ctx, f, st, func(tx pgx.Tx, iteration relabel.ID) error { return endTrajectory(ctx, tx, iteration) })
}

// Fail moves the trajectory to failed, with a reason and a detail that is safe to show. Its
// pending labels become missing.
func (s *Store) Fail(ctx context.Context, f relabel.Fence, reason relabel.FailureReason, detail string) error {
	st := step{to: relabel.Failed, outcome: "failed", reason: detail, tried: "fail", args: []any{reason, validUTF8(detail)},
		set: `state = 'failed', failure = $4, failure_detail = $5, owner = NULL, lease_until = NULL,
			labels_missing = labels_missing + labels_pending, labels_pending = 0, ended_at = clock_timestamp()`}
	return s.take(ctx, f, st, func(tx pgx.Tx, iteration relabel.ID) error {
		if err := forgoLabels(ctx, tx, []relabel.ID{f.TrajectoryID}, validUTF8(detail)); err != nil {
			return err
		}
		return endTrajectory(ctx, tx, iteration)
	})
}
