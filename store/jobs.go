package store

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"relabel"
)

// The queues that a worker takes jobs from.
const (
	QueueRollout = "rollout"
	QueueExport  = "export"
)

// alive are the states of a job that will still be worked. A trajectory or an export
// has at most one such job; a job that is over does not stand in the way of a new one.
var alive = []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
	rivertype.JobStateRunning, rivertype.JobStateScheduled,
}

func insertOpts(queue string) *river.InsertOpts {
	return &river.InsertOpts{Queue: queue, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: alive}}
}

// jobBatch bounds one insert statement.
const jobBatch = 1000

// queueRollouts inserts a job for each trajectory that has none alive.
func (s *Store) queueRollouts(ctx context.Context, tx pgx.Tx, trajectories []relabel.ID) error {
	for len(trajectories) > 0 {
		n := min(len(trajectories), jobBatch)
		params := make([]river.InsertManyParams, n)
		for i, id := range trajectories[:n] {
			params[i] = river.InsertManyParams{Args: relabel.RolloutJob{TrajectoryID: id}, InsertOpts: insertOpts(QueueRollout)}
		}
		if _, err := s.jobs.InsertManyTx(ctx, tx, params); err != nil {
			return err
		}
		trajectories = trajectories[n:]
	}
	return nil
}

// queueExport inserts an export's job, unless it has one alive.
func (s *Store) queueExport(ctx context.Context, tx pgx.Tx, id relabel.ID) error {
	_, err := s.jobs.InsertTx(ctx, tx, relabel.ExportJob{ExportID: id}, insertOpts(QueueExport))
	return err
}
