package store

import (
	"context"
	"iter"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// importer is the owner of the attempts of imported trajectories.
const importer = "import"

// ImportRun stores a run of trajectories that were rolled out elsewhere, or nothing. The trajectories go through
// the states of a rollout within one transaction, so no worker sees them before they are done.
func (s *Store) ImportRun(ctx context.Context, r relabel.ImportedRun, trajectories iter.Seq2[relabel.ImportedTrajectory, error]) error {
	return s.retryTx(ctx, unlessCreated("runs", r.Run.ID), func(tx pgx.Tx, _ bool) error {
		if err := createTaskset(ctx, tx, r.Taskset, tasksOf(trajectories)); err != nil {
			return err
		}
		if err := insertRun(ctx, tx, r.Run); err != nil {
			return err
		}
		it := r.Iteration
		_, err := tx.Exec(ctx, `INSERT INTO iterations (id, run_id, number, kind, student_id, beta, generations, trajectories, open, verify, label_rule)
			VALUES ($1, $2, $3, $4, $5, 0, 1, $6, $6, $7, $8)`, it.ID, it.RunID, it.Number, it.Kind, it.StudentID, r.Trajectories, relabel.VerifyNone, relabel.LabelAll)
		if err != nil {
			return err
		}
		planned := relabel.PlannedIteration{Iteration: it}
		for t, err := range trajectories {
			if err != nil {
				return err
			}
			planned.Trajectories = append(planned.Trajectories, relabel.Trajectory{TaskID: t.Task.ID})
			if err := importTrajectory(ctx, tx, it, t); err != nil {
				return err
			}
		}
		return refuseReserved(ctx, tx, planned)
	})
}

// tasksOf are the tasks of trajectories, each once.
func tasksOf(trajectories iter.Seq2[relabel.ImportedTrajectory, error]) iter.Seq2[relabel.Task, error] {
	return func(yield func(relabel.Task, error) bool) {
		for t, err := range trajectories {
			if err == nil && t.Generation > 0 {
				continue
			}
			if !yield(t.Task, err) {
				return
			}
		}
	}
}

func importTrajectory(ctx context.Context, tx pgx.Tx, it relabel.Iteration, t relabel.ImportedTrajectory) error {
	fence := relabel.Fence{TrajectoryID: t.ID, Attempt: 1, Owner: importer}
	b := &pgx.Batch{}
	b.Queue(`INSERT INTO trajectories (id, run_id, iteration_id, kind, task_id, generation, executors, skip_verify)
		VALUES ($1, $2, $3, $4, $5, $6, $7, true)`, t.ID, it.RunID, it.ID, it.Kind, t.Task.ID, t.Generation, t.Executors())
	b.Queue("UPDATE trajectories SET"+claimSet+"WHERE id = $1", t.ID, importer, "1 hour")
	b.Queue("INSERT INTO attempts (trajectory_id, number, worker) VALUES ($1, 1, $2)", t.ID, importer)
	for _, turn := range t.Turns {
		c, err := prepare(fence, turn)
		if err != nil {
			return err
		}
		b.Queue(commitInsert, c.values()...)
		c.queueRows(b, promptRow{rest: turn.Action.PromptTokenIDs}, promptRow{})
	}
	b.Queue("UPDATE trajectories SET state = 'labelling', end_reason = $2, patch_bytes = $3, submitted = $4 WHERE id = $1",
		t.ID, t.Ending.Reason, len(t.Ending.Patch), t.Ending.Submitted)
	b.Queue("INSERT INTO patches (trajectory_id, patch) VALUES ($1, coalesce($2, ''::bytea))", t.ID, t.Ending.Patch)
	b.Queue("UPDATE trajectories SET state = 'verifying' WHERE id = $1", t.ID)
	b.Queue("UPDATE trajectories SET state = 'done', owner = NULL, lease_until = NULL, ended_at = clock_timestamp() WHERE id = $1", t.ID)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	if err := endAttempts(ctx, tx, []relabel.ID{t.ID}, "done", ""); err != nil {
		return err
	}
	return endTrajectory(ctx, tx, it.ID)
}
