package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// imagesOf are the images of the tasks of the newest revision of taskset $1 that runs draw, each with its
// number of tasks.
const imagesOf = `SELECT ta.image, count(*)::integer AS tasks FROM tasks ta
	WHERE ta.taskset_id = $1 AND ta.replaced_in IS NULL AND ta.excluded IS NULL AND ta.image <> '' GROUP BY ta.image`

// RequestImageChecks asks workers to check every image of a taskset, again if it was checked before.
func (s *Store) RequestImageChecks(ctx context.Context, taskset relabel.ID) error {
	return s.exec(ctx, `INSERT INTO image_checks (image) SELECT image FROM (`+imagesOf+`) needs ORDER BY image
		ON CONFLICT (image) DO UPDATE SET state = 'pending', requested_at = clock_timestamp(), claimed_until = NULL
		WHERE image_checks.state <> 'pending'`, taskset)
}

// ClaimImageChecks returns at most n images that no other worker checks now, the oldest request first. It
// reserves them for a while.
func (s *Store) ClaimImageChecks(ctx context.Context, n int, reserve time.Duration) (images []string, err error) {
	err = s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) (err error) {
		images, err = readColumn[string](ctx, tx, `UPDATE image_checks SET claimed_until = clock_timestamp() + $2
			WHERE image IN (SELECT image FROM image_checks WHERE state = 'pending' AND (claimed_until IS NULL OR claimed_until < clock_timestamp())
				ORDER BY requested_at, image LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING image`, n, reserve)
		return err
	})
	return images, err
}

// FinishImageCheck stores the result of a check.
func (s *Store) FinishImageCheck(ctx context.Context, image string, f relabel.ImageFacts) error {
	var bytes int64
	for _, l := range f.Layers {
		bytes += l.Bytes
	}
	return s.exec(ctx, `UPDATE image_checks SET state = $2, bytes = $3, layers = $4, problem = $5, digest = $6, checked_at = clock_timestamp(), claimed_until = NULL
		WHERE image = $1`, image, f.State, bytes, f.Layers, validUTF8(f.Problem), f.Digest)
}

// ListTasksetImages lists the images that the tasks of a taskset need, in the byte order of their names.
// CodeInvalid for an invalid page.
func (s *Store) ListTasksetImages(ctx context.Context, taskset relabel.ID, state relabel.ImageState, p relabel.Page) ([]relabel.ImageNeed, string, error) {
	after, limit, err := namePage(p)
	if err != nil {
		return nil, "", err
	}
	needs, err := listAll[relabel.ImageNeed](ctx, s, `SELECT needs.image, needs.tasks, coalesce(c.state, '') AS state, coalesce(c.bytes, 0) AS bytes,
			coalesce(c.problem, '') AS problem, c.checked_at, NULL::json AS layers
		FROM (`+imagesOf+`) needs LEFT JOIN image_checks c ON c.image = needs.image
		WHERE needs.image COLLATE "C" > $2 AND ($3 = '' OR c.state = $3) ORDER BY needs.image COLLATE "C" LIMIT $4`, taskset, after, state, limit+1)
	if err != nil {
		return nil, "", err
	}
	next := ""
	if len(needs) > limit {
		needs = needs[:limit]
		next = nameCursor(needs[limit-1].Image)
	}
	return needs, next, nil
}

// SumTasksetImages returns the sums of the images that the tasks of a taskset need.
func (s *Store) SumTasksetImages(ctx context.Context, taskset relabel.ID) (relabel.ImageSums, error) {
	needs, err := listAll[relabel.ImageNeed](ctx, s, `SELECT needs.image, needs.tasks, coalesce(c.state, '') AS state, coalesce(c.bytes, 0) AS bytes,
			'' AS problem, c.checked_at, c.layers
		FROM (`+imagesOf+`) needs LEFT JOIN image_checks c ON c.image = needs.image`, taskset)
	return relabel.SumImages(needs), err
}
