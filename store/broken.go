package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"relabel"
	"relabel/chat"
)

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

// countBreaks counts the attempts whose sandbox broke at an action.
func countBreaks(ctx context.Context, tx pgx.Tx, trajectory relabel.ID) (n int, err error) {
	err = tx.QueryRow(ctx, "SELECT count(*) FROM attempts WHERE trajectory_id = $1 AND broke_at IS NOT NULL", trajectory).Scan(&n)
	return n, err
}

// decodeBroken is the inverse of encodeBroken.
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
