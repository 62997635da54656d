package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// NextImages returns the images that the next n queued trajectories need, about in the order
// in which they will be claimed, each once.
func (s *Store) NextImages(ctx context.Context, n int) ([]string, error) {
	rows, _ := s.pool.Query(ctx, `SELECT ta.image
		FROM iterations it JOIN runs ru ON ru.id = it.run_id
		CROSS JOIN LATERAL (SELECT tr.id, tr.task_id FROM trajectories tr WHERE tr.iteration_id = it.id AND tr.state = 'queued'
			ORDER BY tr.id LIMIT $1) next
		JOIN tasks ta ON ta.id = next.task_id
		WHERE it.state = 'running' AND it.paused IS NULL AND ru.paused IS NULL
		GROUP BY ta.image ORDER BY max(ru.priority) DESC, min(next.id::text) COLLATE "C" LIMIT $1`, n)
	images, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return images, classify(err)
}

// NotePull notes that an image was pulled to an engine just now.
func (s *Store) NotePull(ctx context.Context, p relabel.PulledImage) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		_, err := tx.Exec(ctx, `INSERT INTO pulled_images (engine, image, id, bytes) VALUES ($1, $2, $3, $4)
			ON CONFLICT (engine, image) DO UPDATE SET id = excluded.id, bytes = excluded.bytes, pulled_at = clock_timestamp(), used_at = clock_timestamp()`,
			p.Engine, p.Image, p.ID, p.Bytes)
		return err
	})
}

// NoteUse notes that an image is used now, if it was pulled. To the minute is enough.
func (s *Store) NoteUse(ctx context.Context, engine, image string) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		_, err := tx.Exec(ctx, `UPDATE pulled_images SET used_at = clock_timestamp()
			WHERE engine = $1 AND image = $2 AND used_at < clock_timestamp() - interval '1 minute'`, engine, image)
		return err
	})
}

// ListPulled returns the images that were pulled to an engine, the least recently used first.
func (s *Store) ListPulled(ctx context.Context, engine string) ([]relabel.PulledImage, error) {
	rows, _ := s.pool.Query(ctx, `SELECT engine, image, id, bytes, pulled_at, used_at FROM pulled_images
		WHERE engine = $1 ORDER BY used_at, image`, engine)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[relabel.PulledImage])
	return list, classify(err)
}

// ForgetPull forgets an image that is gone from an engine.
func (s *Store) ForgetPull(ctx context.Context, engine, image string) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		_, err := tx.Exec(ctx, "DELETE FROM pulled_images WHERE engine = $1 AND image = $2", engine, image)
		return err
	})
}
