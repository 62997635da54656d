package store

import (
	"context"

	"relabel"
)

// NextImages returns the images of the next n queued trajectories, roughly in the order of
// claims, without duplicates.
func (s *Store) NextImages(ctx context.Context, n int) ([]string, error) {
	images, err := readColumn[string](ctx, s.pool, `SELECT ta.image
		FROM iterations it JOIN runs ru ON ru.id = it.run_id
		CROSS JOIN LATERAL (SELECT tr.id, tr.task_id FROM trajectories tr WHERE tr.iteration_id = it.id AND tr.state = 'queued'
			ORDER BY tr.id LIMIT $1) next
		JOIN tasks ta ON ta.id = next.task_id
		WHERE it.state = 'running' AND it.paused IS NULL AND ru.paused IS NULL AND ru.task_kind <> 'localise'
		GROUP BY ta.image ORDER BY max(ru.priority) DESC, min(next.id::text) COLLATE "C" LIMIT $1`, n)
	return images, classify(err)
}

// NotePull records that an image was just pulled to an engine.
func (s *Store) NotePull(ctx context.Context, p relabel.PulledImage) error {
	return s.exec(ctx, `INSERT INTO pulled_images (engine, image, id, bytes, layers) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (engine, image) DO UPDATE SET id = excluded.id, bytes = excluded.bytes, layers = excluded.layers, pulled_at = clock_timestamp(), used_at = clock_timestamp()`,
		p.Engine, p.Image, p.ID, p.Bytes, p.Layers)
}

// NoteUse records that pulled images are in use, to the minute.
func (s *Store) NoteUse(ctx context.Context, engine string, images ...string) error {
	return s.exec(ctx, `UPDATE pulled_images SET used_at = clock_timestamp()
			WHERE engine = $1 AND image = ANY ($2) AND used_at < clock_timestamp() - interval '1 minute'`, engine, images)
}

// ListPulled returns an engine's pulled images, the least recently used first.
func (s *Store) ListPulled(ctx context.Context, engine string) ([]relabel.PulledImage, error) {
	return listAll[relabel.PulledImage](ctx, s, `SELECT engine, image, id, bytes, layers, pulled_at, used_at FROM pulled_images
		WHERE engine = $1 ORDER BY used_at, image`, engine)
}

// ForgetPull deletes the record of an image that an engine no longer has.
func (s *Store) ForgetPull(ctx context.Context, engine, image string) error {
	return s.exec(ctx, "DELETE FROM pulled_images WHERE engine = $1 AND image = $2", engine, image)
}
