package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// fenced is what every write of a running trajectory demands of its row, with the
// fence's three parts as $1, $2 and $3: this attempt, this owner, a live lease by this
// server's clock. A worker that lost any of them writes zero rows.
const fenced = " id = $1 AND attempt = $2 AND owner = $3 AND lease_until > clock_timestamp() "

// refusal says why a fenced write hit no row: CodeLeaseLost when the fence does not
// hold, else CodeConflict with what was tried.
func refusal(ctx context.Context, tx pgx.Tx, f relabel.Fence, tried string) error {
	var state relabel.TrajectoryState
	err := tx.QueryRow(ctx, "SELECT state FROM trajectories WHERE"+fenced, f.TrajectoryID, f.Attempt, f.Owner).Scan(&state)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return relabel.Errorf(relabel.CodeLeaseLost, "the trajectory is no longer this worker's")
	case err != nil:
		return err
	}
	return relabel.Errorf(relabel.CodeConflict, "a trajectory that is %s cannot %s", state, tried)
}

// holds reports whether the fence holds: how a claim whose commit was unclear is settled.
// What was read in its transaction stands then.
func holds(ctx context.Context, tx pgx.Tx, f relabel.Fence) (bool, error) {
	var yes bool
	err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM trajectories WHERE"+fenced+")", f.TrajectoryID, f.Attempt, f.Owner).Scan(&yes)
	return yes, err
}

// reached reports whether the fence's attempt already brought the trajectory to state:
// how an unclear commit of a step is settled. outcome is the attempt's, "" while it runs.
func reached(ctx context.Context, tx pgx.Tx, f relabel.Fence, state relabel.TrajectoryState, outcome string) (bool, error) {
	var yes bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM trajectories tr
		JOIN attempts a ON a.trajectory_id = tr.id AND a.number = tr.attempt
		WHERE tr.id = $1 AND tr.attempt = $2 AND a.worker = $3 AND tr.state = $4 AND coalesce(a.outcome, '') = $5)`,
		f.TrajectoryID, f.Attempt, f.Owner, state, outcome).Scan(&yes)
	return yes, err
}

// step is one move of a trajectory's state machine by its owner.
type step struct {
	to      relabel.TrajectoryState
	outcome string // the attempt's when the step ends it, else ""
	tried   string // completes "a trajectory that is … cannot …"
	// check may refuse the step before it is made; nil: nothing does. It returns nil if the
	// fence does not hold: the step says so.
	check func(tx pgx.Tx) error
	sql   string // UPDATE trajectories …; its first arguments are the fence's
	args  []any  // the further ones
}

// take makes the step, and then what belongs with it; both or neither. A step that ends
// the attempt wakes whoever can go on with what it frees.
func (s *Store) take(ctx context.Context, f relabel.Fence, st step, also func(tx pgx.Tx, iteration relabel.ID) error) error {
	args := append([]any{f.TrajectoryID, f.Attempt, f.Owner}, st.args...)
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, again bool) error {
		if again {
			if done, err := reached(ctx, tx, f, st.to, st.outcome); done || err != nil {
				return err
			}
		}
		if st.check != nil {
			if err := st.check(tx); err != nil {
				return err
			}
		}
		var iteration relabel.ID
		err := tx.QueryRow(ctx, st.sql+" RETURNING iteration_id", args...).Scan(&iteration)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return refusal(ctx, tx, f, st.tried)
		case err != nil || also == nil:
			return err
		}
		if st.outcome != "" {
			if err := s.wakeNext(ctx, tx, iteration, st.to); err != nil {
				return err
			}
		}
		return also(tx, iteration) // last: it may take the iteration's lock, which many want
	})
}
