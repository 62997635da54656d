package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// insertArchives stores the content of a task's archives, unless they are stored already.
func insertArchives(ctx context.Context, tx pgx.Tx, task relabel.Task) error {
	if task.Terminal == nil {
		return nil
	}
	for _, a := range []relabel.Archive{task.Terminal.Tests, task.Terminal.Solution} {
		if len(a.Content) == 0 {
			continue
		}
		if _, err := tx.Exec(ctx, "INSERT INTO task_archives (sha256, content) VALUES ($1, $2) ON CONFLICT DO NOTHING", a.SHA256, a.Content); err != nil {
			return err
		}
	}
	return nil
}

// queueTests queues the read of the tests of a trajectory's task, which only tasks in a terminal have. task must
// have been read when the batch is sent.
func queueTests(b *pgx.Batch, task *relabel.Task, trajectory relabel.ID) {
	b.Queue(`SELECT a.content FROM trajectories tr JOIN tasks ta ON ta.id = tr.task_id
		JOIN task_archives a ON a.sha256 = ta.terminal->'tests'->>'sha256' WHERE tr.id = $1`, trajectory).Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
		if err == nil && len(found) > 0 && task.Terminal != nil {
			task.Terminal.Tests.Content = found[0]
		}
		return err
	})
}

// FindArchive returns the content of an archive of a task; CodeNotFound if there is none.
func (s *Store) FindArchive(ctx context.Context, sha256 string) ([]byte, error) {
	return find[[]byte](ctx, s, "archive", sha256, "SELECT content FROM task_archives WHERE sha256 = $1", validUTF8(sha256))
}
