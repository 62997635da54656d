package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// atRevision is the condition that tasks ta are of a taskset at a revision, 0 for the newest. Both are placeholders.
func atRevision(taskset, revision string) string {
	return "ta.taskset_id = " + taskset + " AND CASE WHEN " + revision + "::integer = 0 THEN ta.replaced_in IS NULL ELSE ta.added_in <= " +
		revision + " AND (ta.replaced_in IS NULL OR ta.replaced_in > " + revision + ") END"
}

// FindTasksetAt returns a taskset at a revision, 0 for the newest; CodeNotFound if there is none.
func (s *Store) FindTasksetAt(ctx context.Context, id relabel.ID, revision int) (relabel.Taskset, error) {
	set, err := s.FindTaskset(ctx, id)
	if err != nil || revision == 0 || revision == set.Revision {
		return set, err
	}
	set, err = readOne[relabel.Taskset](ctx, s.pool, tasksetColumns+" WHERE ts.id = $1 AND tv.revision = $2", id, revision)
	return set, notFound("revision of the taskset", revision, err)
}

// ListTasksetRevisions lists all revisions of a taskset, newest first, none if there is no such taskset.
func (s *Store) ListTasksetRevisions(ctx context.Context, taskset relabel.ID) ([]relabel.TasksetRevision, error) {
	return listAll[relabel.TasksetRevision](ctx, s, `SELECT revision, change, digest, changed, tasks, held_out, excluded, created_at FROM taskset_revisions
		WHERE taskset_id = $1 ORDER BY revision DESC`, taskset)
}

// beginRevision begins a revision of a taskset and returns its number. Others wait until the transaction ends.
// CodeNotFound if there is no such taskset.
func beginRevision(ctx context.Context, tx pgx.Tx, taskset relabel.ID) (int, error) {
	revision, err := readValue[int](ctx, tx, "UPDATE tasksets SET revision = revision + 1 WHERE id = $1 RETURNING revision", taskset)
	return revision, notFound("taskset", taskset, err)
}

// recordRevision stores a revision with its counts, after its tasks, and which of these overlap with benchmarks. digest is that of the file that it added,
// "" if it added none.
func recordRevision(ctx context.Context, tx pgx.Tx, taskset relabel.ID, revision int, change relabel.TasksetChange, digest string) error {
	_, err := tx.Exec(ctx, `INSERT INTO taskset_revisions (taskset_id, revision, change, digest, changed, tasks, held_out, excluded)
		SELECT $1, $2, $3, $4, count(*) FILTER (WHERE added_in = $2), count(*), count(*) FILTER (WHERE held_out), count(*) FILTER (WHERE excluded IS NOT NULL)
		FROM tasks WHERE taskset_id = $1 AND replaced_in IS NULL`, taskset, revision, change, digest)
	if err != nil {
		return err
	}
	return markTasks(ctx, tx, taskset, revision)
}

// ReviseTasks stores changed tasks, each with the id of the task whose place it takes, as a new revision of
// their taskset, and returns the taskset. Each gets a new id, and a copy of the newest validation. CodeConflict if the newest revision does not have
// one of these, CodeInvalid without tasks, CodeNotFound if there is no such taskset.
func (s *Store) ReviseTasks(ctx context.Context, taskset relabel.ID, change relabel.TasksetChange, changed []relabel.Task) (relabel.Taskset, error) {
	if len(changed) == 0 {
		return relabel.Taskset{}, relabel.Errorf(relabel.CodeInvalid, "no task changes").On("instances")
	}
	earlier := make([]relabel.ID, len(changed))
	later := make([]relabel.ID, len(changed))
	rows := make([]relabel.Task, len(changed))
	for i, t := range changed {
		earlier[i], later[i], rows[i] = t.ID, relabel.NewID(), t
		rows[i].ID = later[i]
	}
	err := s.retryTx(ctx, unlessCreated("tasks", later[0]), func(tx pgx.Tx, _ bool) error {
		revision, err := beginRevision(ctx, tx, taskset)
		if err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, "UPDATE tasks SET replaced_in = $3 WHERE taskset_id = $1 AND id = ANY ($2) AND replaced_in IS NULL", taskset, earlier, revision)
		if err != nil {
			return err
		}
		if n := len(changed) - int(tag.RowsAffected()); n > 0 {
			return relabel.Errorf(relabel.CodeConflict, "%d of the %d tasks were changed meanwhile: read the task set again", n, len(changed)).On("instances")
		}
		if err := copyTasks(ctx, tx, "tasks", taskset, revision, relabel.TaskList(rows)); err != nil {
			return err
		}
		if err := carryValidations(ctx, tx, change, earlier, later); err != nil {
			return err
		}
		return recordRevision(ctx, tx, taskset, revision, change, "")
	})
	if err != nil {
		return relabel.Taskset{}, err
	}
	return s.FindTaskset(ctx, taskset)
}
