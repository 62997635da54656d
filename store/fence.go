package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// fenced is the condition of every write of a running trajectory: this attempt ($2), this owner
// ($3) and a live lease by the server's clock. A worker that lost any of them writes no row.
const fenced = " id = $1 AND attempt = $2 AND owner = $3 AND lease_until > clock_timestamp() "

// refusal explains a fenced write without effect: CodeLeaseLost if the fence does not hold,
// else CodeConflict with the attempted step.
func refusal(ctx context.Context, tx pgx.Tx, f relabel.Fence, tried string) error {
	state, err := readValue[relabel.TrajectoryState](ctx, tx,
		"SELECT state FROM trajectories WHERE"+fenced, f.TrajectoryID, f.Attempt, f.Owner)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return relabel.Errorf(relabel.CodeLeaseLost, "the trajectory is no longer this worker's")
	case err != nil:
		return err
	}
	return relabel.Errorf(relabel.CodeConflict, "a trajectory that is %s cannot %s", state, tried)
}

// holds reports whether the fence holds, which settles a claim after an unclear commit. Data
// read in its transaction is then valid.
func holds(ctx context.Context, tx pgx.Tx, f relabel.Fence) (bool, error) {
	return readValue[bool](ctx, tx,
		"SELECT EXISTS (SELECT 1 FROM trajectories WHERE"+fenced+")", f.TrajectoryID, f.Attempt, f.Owner)
}

// reached reports whether the fence's attempt has brought the trajectory to state, which
// settles a step after an unclear commit. outcome is the attempt's, "" while it runs.
func reached(ctx context.Context, tx pgx.Tx, f relabel.Fence, state relabel.TrajectoryState, outcome string) (bool, error) {
	return readValue[bool](ctx, tx, `SELECT EXISTS (SELECT 1 FROM trajectories tr
		JOIN attempts a ON a.trajectory_id = tr.id AND a.number = tr.attempt
		WHERE tr.id = $1 AND tr.attempt = $2 AND a.worker = $3 AND tr.state = $4 AND coalesce(a.outcome, '') = $5)`,
		f.TrajectoryID, f.Attempt, f.Owner, state, outcome)
}

// step is a transition of a trajectory's state machine by its owner.
type step struct {
	to      relabel.TrajectoryState
	outcome string // of the attempt that the step ends; "" if the attempt continues
	reason  string // why the attempt ends
	tried   string // completes "a trajectory that is … cannot …"
	// check may refuse the step before the update; nil: no check. It returns nil if the fence
	// does not hold: the update then finds no row.
	check func(tx pgx.Tx) error
	set   string // of UPDATE trajectories; the fence has the arguments $1, $2 and $3
	when  string // further conditions: "" or "AND …"
	args  []any  // from $4 on
}

// take makes the step and everything that belongs to it in one transaction. A step that ends
// the attempt wakes a worker for the work that becomes available.
func (s *Store) take(ctx context.Context, f relabel.Fence, st step, also func(tx pgx.Tx, iteration relabel.ID) error) error {
	update := "UPDATE trajectories SET " + st.set + " WHERE" + fenced + st.when + " RETURNING iteration_id"
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
		iteration, err := readValue[relabel.ID](ctx, tx, update, args...)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return refusal(ctx, tx, f, st.tried)
		case err != nil:
			return err
		}
		if st.outcome != "" {
			if err := s.wakeNext(ctx, tx, iteration, st.to); err != nil {
				return err
			}
			if err := endAttempts(ctx, tx, []relabel.ID{f.TrajectoryID}, st.outcome, validUTF8(st.reason)); err != nil {
				return err
			}
		}
		if also == nil {
			return nil
		}
		return also(tx, iteration) // last: it may take the contended lock of the iteration
	})
}

// jobFenced is the condition of every write of a relabeling, scoring, judging, regrading or label batch, like
// fenced for a trajectory. The three parts of the fence are $1, $2 and $3.
const jobFenced = " id = $1 AND claim = $2 AND owner = $3 AND lease_until > clock_timestamp() "

// jobFence is the fence of one of them.
type jobFence struct {
	table, name string
	id          relabel.ID
	claim       int
	owner       string
}

func ofRelabeling(f relabel.RelabelFence) jobFence {
	return jobFence{"relabelings", "relabeling", f.RelabelingID, f.Claim, f.Owner}
}

func ofScoring(f relabel.ScoreFence) jobFence {
	return jobFence{"scorings", "scoring", f.ScoringID, f.Claim, f.Owner}
}

func ofJudging(f relabel.JudgeFence) jobFence {
	return jobFence{"judgings", "judging", f.JudgingID, f.Claim, f.Owner}
}

func ofRegrading(f relabel.RegradeFence) jobFence {
	return jobFence{"regradings", "regrading", f.RegradingID, f.Claim, f.Owner}
}

func ofBatch(f relabel.BatchFence) jobFence {
	return jobFence{"label_batches", "batch", f.BatchID, f.Claim, f.Owner}
}

// args are the fence's arguments and further ones.
func (f jobFence) args(more ...any) []any { return append([]any{f.id, f.claim, f.owner}, more...) }

func (f jobFence) lost() error {
	return relabel.Errorf(relabel.CodeLeaseLost, "this worker no longer holds the %s", f.name)
}

// update makes one fenced change; CodeLeaseLost if the fence does not hold.
func (f jobFence) update(ctx context.Context, tx pgx.Tx, set string, more ...any) error {
	return execOrElse(ctx, tx, f.lost, "UPDATE "+f.table+" SET "+set+" WHERE"+jobFenced, f.args(more...)...)
}

// lock locks the row; CodeLeaseLost if the fence does not hold.
func (f jobFence) lock(ctx context.Context, tx pgx.Tx) error {
	return execOrElse(ctx, tx, f.lost, "SELECT FROM "+f.table+" WHERE"+jobFenced+"FOR NO KEY UPDATE", f.args()...)
}

// changeJob is update in a transaction of its own. After an unclear commit, a job that this
// claim brought to the state to ("": none) is changed already.
func (s *Store) changeJob(ctx context.Context, f jobFence, set, to string, more ...any) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, again bool) error {
		err := f.update(ctx, tx, set, more...)
		if !again || to == "" || relabel.CodeOf(err) != relabel.CodeLeaseLost {
			return err
		}
		return f.reached(ctx, tx, to)
	})
}

// reached returns CodeLeaseLost unless this claim brought the job to one of the states.
func (f jobFence) reached(ctx context.Context, tx pgx.Tx, states ...string) error {
	yes, err := readValue[bool](ctx, tx,
		"SELECT EXISTS (SELECT 1 FROM "+f.table+" WHERE id = $1 AND claim = $2 AND state = ANY ($3))",
		f.id, f.claim, states)
	if err == nil && !yes {
		return f.lost()
	}
	return err
}

// noneDue is the error of a claim; CodeNotFound with the message if there was no row.
func noneDue(err error, message string) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return relabel.Errorf(relabel.CodeNotFound, "%s", message)
	}
	return err
}
