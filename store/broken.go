package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// storedBroken is a relabel.BrokenTurn as JSON, with the bytes of its action that relabel.Action
// leaves out.
type storedBroken struct {
	Executor  relabel.Role   `json:"executor"`
	Action    relabel.Action `json:"action"`
	Raw, Said []byte
}

// encodeBroken is a turn whose execution broke the sandbox as it is stored; nil of nil.
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

// readBroken returns the action at turn t in the course of which a sandbox broke; nil where there
// was none.
func readBroken(ctx context.Context, tx pgx.Tx, trajectory relabel.ID, t int) (*relabel.BrokenTurn, error) {
	var stored []byte
	// What came before a divergence belongs to other turns.
	err := tx.QueryRow(ctx, `SELECT broken FROM attempts WHERE trajectory_id = $1 AND broke_at = $2
		AND number > coalesce((SELECT max(number) FROM attempts WHERE trajectory_id = $1 AND outcome = 'diverged'), 0)
		ORDER BY number DESC LIMIT 1`, trajectory, t).Scan(&stored)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var b storedBroken
	if err := json.Unmarshal(stored, &b); err != nil {
		return nil, fmt.Errorf("read the action that broke its sandbox: %w", err)
	}
	action := b.Action
	action.Raw, action.Said = b.Raw, b.Said
	if action.Message, err = relabel.DecodeMessage(action.Raw); err != nil {
		return nil, fmt.Errorf("read the action that broke its sandbox: %w", err)
	}
	return &relabel.BrokenTurn{T: t, Executor: b.Executor, Action: action}, nil
}
