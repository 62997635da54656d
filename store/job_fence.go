package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// jobFenced is the condition of every write of a relabeling, regrading or label batch, like
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
	var yes bool
	err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM "+f.table+" WHERE id = $1 AND claim = $2 AND state = ANY ($3))",
		f.id, f.claim, states).Scan(&yes)
	if err == nil && !yes {
		return f.lost()
	}
	return err
}
