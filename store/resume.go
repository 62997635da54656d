package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"relabel"
	"relabel/chat"
)

// allTurns exceeds the last turn of any trajectory.
const allTurns = 1 << 30

// readTrail adds the results of earlier attempts to a claim: the committed turns, and the
// ending of a finished rollout. Such a rollout needs no replay, so this attempt takes over its
// turns.
func readTrail(ctx context.Context, tx pgx.Tx, c *relabel.Claim) error {
	tr := &c.Trajectory
	if tr.EndReason != "" {
		c.Ending = &relabel.Ending{Reason: tr.EndReason}
		err := tx.QueryRow(ctx, "SELECT p.patch, tr.submitted FROM trajectories tr JOIN patches p ON p.trajectory_id = tr.id WHERE tr.id = $1", tr.ID).Scan(&c.Ending.Patch, &c.Ending.Submitted)
		if err != nil {
			return err
		}
		if err := moveTrail(ctx, tx, c.Fence, tr.Trail); err != nil {
			return err
		}
		tr.Trail = c.Attempt
	}
	var err error
	if c.Turns, err = readTurns(ctx, tx, tr.ID, tr.Trail, 1, allTurns); err != nil || c.Ending != nil || tr.EnvironmentFailures == 0 {
		return err
	}
	if c.BrokeAt, c.Broken, err = readBroken(ctx, tx, tr.ID, len(c.Turns)+1); err != nil {
		return err
	}
	c.Breaks, err = countBreaks(ctx, tx, tr.ID)
	return err
}

// AdoptTurns moves the turns of attempt from, which the fence's attempt has replayed, to that
// attempt. Adopting them twice is not an error. CodeConflict if from does not hold the turns.
func (s *Store) AdoptTurns(ctx context.Context, f relabel.Fence, from int) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		trail, err := lockTrail(ctx, tx, f, "adopt turns")
		switch {
		case err != nil:
			return err
		case trail == from && from < f.Attempt:
			return moveTrail(ctx, tx, f, from)
		}
		return trailIs(ctx, tx, f, from, "continued_by = $3", f.Attempt)
	})
}

// Diverge records that the replay of attempt from reached another state. The old attempt keeps
// its turns, is never exported, and its pending labels become missing. The trajectory starts
// again without turns. Calling it twice is not an error.
func (s *Store) Diverge(ctx context.Context, f relabel.Fence, from int, detail string) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		trail, err := lockTrail(ctx, tx, f, "diverge")
		switch {
		case err != nil:
			return err
		case trail == from && from < f.Attempt:
			return leaveTrail(ctx, tx, f, from, validUTF8(detail))
		}
		return trailIs(ctx, tx, f, from, "outcome = $3", "diverged")
	})
}

// lockTrail locks a running trajectory and returns its trail.
func lockTrail(ctx context.Context, tx pgx.Tx, f relabel.Fence, tried string) (trail int, err error) {
	err = tx.QueryRow(ctx, "SELECT trail FROM trajectories WHERE"+fenced+"AND state = 'running' FOR NO KEY UPDATE",
		f.TrajectoryID, f.Attempt, f.Owner).Scan(&trail)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, refusal(ctx, tx, f, tried)
	}
	return trail, err
}

// trailIs returns nil if the change of attempt from is already made.
func trailIs(ctx context.Context, tx pgx.Tx, f relabel.Fence, from int, condition string, value any) error {
	done, err := readValue[bool](ctx, tx,
		"SELECT EXISTS (SELECT 1 FROM attempts WHERE trajectory_id = $1 AND number = $2 AND "+condition+")",
		f.TrajectoryID, from, value)
	if err == nil && !done {
		return relabel.Errorf(relabel.CodeConflict, "attempt %d has no turns that attempt %d could take over", from, f.Attempt)
	}
	return err
}

// moveTrail moves the turns of attempt from, with everything that refers to them, to the
// fence's attempt, without rewriting large values.
func moveTrail(ctx context.Context, tx pgx.Tx, f relabel.Fence, from int) error {
	if from == f.Attempt {
		return nil
	}
	b := &pgx.Batch{}
	b.Queue("SET CONSTRAINTS actions_turn, actions_prompt_base, observations_turn DEFERRED")
	for _, table := range []string{"turns", "actions", "observations"} {
		b.Queue("UPDATE "+table+" SET attempt = $3 WHERE trajectory_id = $1 AND attempt = $2", f.TrajectoryID, from, f.Attempt)
	}
	b.Queue("UPDATE attempts SET continued_by = $3 WHERE trajectory_id = $1 AND number = $2", f.TrajectoryID, from, f.Attempt)
	b.Queue("UPDATE trajectories SET trail = $2 WHERE id = $1", f.TrajectoryID, f.Attempt)
	return tx.SendBatch(ctx, b).Close()
}

// leaveTrail keeps the turns with the old attempt and starts the fence's attempt without any.
func leaveTrail(ctx context.Context, tx pgx.Tx, f relabel.Fence, from int, detail string) error {
	if err := forgoLabels(ctx, tx, []relabel.ID{f.TrajectoryID}, "a replay diverged"); err != nil {
		return err
	}
	b := &pgx.Batch{}
	b.Queue("UPDATE attempts SET outcome = 'diverged', reason = $3 WHERE trajectory_id = $1 AND number = $2", f.TrajectoryID, from, detail)
	b.Queue(`UPDATE trajectories SET trail = attempt, turns = 0, teacher_turns = 0, labels_received = 0, labels_missing = 0, labels_not_selected = 0,
		compared = 0, agreed = 0, ribbon = '', tokens = 0, tool_calls = 0, tool_failures = 0, student_tool_calls = 0, student_tool_failures = 0,
		fault = NULL, faults = 0
		WHERE id = $1`, f.TrajectoryID)
	return tx.SendBatch(ctx, b).Close()
}

// storedBroken is a relabel.BrokenTurn as JSON, with the bytes of its action that
// relabel.Action omits.
type storedBroken struct {
	Executor  relabel.Role   `json:"executor"`
	Action    relabel.Action `json:"action"`
	Raw, Said []byte
}

// encodeBroken encodes a turn whose execution broke the sandbox; nil for nil.
func encodeBroken(b *relabel.BrokenTurn) ([]byte, error) {
	if b == nil {
		return nil, nil
	}
	stored, err := json.Marshal(storedBroken{b.Executor, b.Action, b.Action.Raw, b.Action.Said})
	if err != nil {
		return nil, fmt.Errorf("store the action that broke its sandbox: %w", err)
	}
	return stored, nil
}

// readBroken returns the turns at which sandboxes broke, in the order of attempts, and the last
// action that broke one at turn next, if any.
func readBroken(ctx context.Context, tx pgx.Tx, trajectory relabel.ID, next int) (at []int, pending *relabel.BrokenTurn, err error) {
	// Breaks before a divergence belong to other turns.
	rows, err := tx.Query(ctx, `SELECT broke_at, CASE WHEN broke_at = $2 THEN broken END FROM attempts
		WHERE trajectory_id = $1 AND broke_at IS NOT NULL
		AND number > coalesce((SELECT max(number) FROM attempts WHERE trajectory_id = $1 AND outcome = 'diverged'), 0)
		ORDER BY number`, trajectory, next)
	if err != nil {
		return nil, nil, err
	}
	var t int
	var last, stored []byte
	_, err = pgx.ForEachRow(rows, []any{&t, &stored}, func() error {
		at = append(at, t)
		if stored != nil {
			last = bytes.Clone(stored)
		}
		return nil
	})
	if err != nil || last == nil {
		return at, nil, err
	}
	pending, err = decodeBroken(next, last)
	return at, pending, err
}

func countBreaks(ctx context.Context, tx pgx.Tx, trajectory relabel.ID) (n int, err error) {
	return readValue[int](ctx, tx,
		"SELECT count(*) FROM attempts WHERE trajectory_id = $1 AND broke_at IS NOT NULL", trajectory)
}

func decodeBroken(t int, stored []byte) (*relabel.BrokenTurn, error) {
	var b storedBroken
	err := json.Unmarshal(stored, &b)
	if err != nil {
		return nil, fmt.Errorf("read the action that broke its sandbox: %w", err)
	}
	action := b.Action
	action.Raw, action.Said = b.Raw, b.Said
	if action.Message, err = chat.DecodeMessage(action.Raw); err != nil {
		return nil, fmt.Errorf("read the action that broke its sandbox: %w", err)
	}
	return &relabel.BrokenTurn{T: t, Executor: b.Executor, Action: action}, nil
}
