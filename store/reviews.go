package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"relabel"
)

const reviewSelect = `SELECT rv.id, rv.trajectory_id, tr.run_id, ta.instance_id, rv.t, rv.flag, rv.note, rv.author, rv.created_at, rv.edited_at
	FROM reviews rv JOIN trajectories tr ON tr.id = rv.trajectory_id JOIN tasks ta ON ta.id = tr.task_id`

func flagIs(flag string) (condition, arg string) {
	if flag == relabel.AnyFlag {
		return "rv.flag <> %s", ""
	}
	return "rv.flag = %s", validUTF8(flag)
}

// CreateReview stores a review. CodeNotFound if there is no such trajectory,
// CodeInvalid if it has no such turn.
func (s *Store) CreateReview(ctx context.Context, r relabel.Review) error {
	r.ID = ensureID(r.ID)
	return s.retryTx(ctx, unlessCreated("reviews", r.ID), func(tx pgx.Tx, _ bool) error {
		if err := hasTurn(ctx, tx, r.TrajectoryID, r.T); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "INSERT INTO reviews (id, trajectory_id, t, flag, note, author) VALUES ($1, $2, $3, $4, $5, $6)",
			r.ID, r.TrajectoryID, r.T, r.Flag, r.Note, r.Author)
		return err
	})
}

// hasTurn refuses a turn that a trajectory does not have; t may be nil.
func hasTurn(ctx context.Context, tx pgx.Tx, trajectory relabel.ID, t *int) error {
	turns, err := readValue[int](ctx, tx, "SELECT turns FROM trajectories WHERE id = $1", trajectory)
	switch {
	case err != nil:
		return notFound("trajectory", trajectory, err)
	case t != nil && *t > turns:
		return relabel.Errorf(relabel.CodeInvalid, "the trajectory has %d turns", turns).On("t")
	}
	return nil
}

// EditReview replaces turn, flag, note and author of a review, and returns it. CodeNotFound if
// the trajectory has no such review, CodeInvalid if it has no such turn.
func (s *Store) EditReview(ctx context.Context, r relabel.Review) (relabel.Review, error) {
	err := s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		if err := hasTurn(ctx, tx, r.TrajectoryID, r.T); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE reviews SET t = $3, flag = $4, note = $5, author = $6, edited_at = clock_timestamp()
			WHERE id = $1 AND trajectory_id = $2 AND (t, flag, note, author) IS DISTINCT FROM ($3, $4, $5, $6)`, r.ID, r.TrajectoryID, r.T, r.Flag, r.Note, r.Author)
		return err
	})
	if err != nil {
		return relabel.Review{}, err
	}
	return s.FindReview(ctx, r.TrajectoryID, r.ID)
}

// FindReview returns a trajectory's review; CodeNotFound if there is none.
func (s *Store) FindReview(ctx context.Context, trajectory, id relabel.ID) (relabel.Review, error) {
	return find[relabel.Review](ctx, s,
		"review", id, reviewSelect+" WHERE rv.id = $1 AND rv.trajectory_id = $2", id, trajectory)
}

// DeleteReview removes a trajectory's review; CodeNotFound if there is none.
func (s *Store) DeleteReview(ctx context.Context, trajectory, id relabel.ID) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, again bool) error {
		err := tx.QueryRow(ctx, "DELETE FROM reviews WHERE id = $1 AND trajectory_id = $2 RETURNING id", id, trajectory).Scan(&id)
		if again && errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return notFound("review", id, err)
	})
}

// ListReviews lists the reviews that match the filter, newest first. CodeInvalid for an invalid
// page.
func (s *Store) ListReviews(ctx context.Context, f relabel.ReviewFilter, p relabel.Page) ([]relabel.Review, string, error) {
	return reviewList(f).page(ctx, s, p)
}

func reviewList(f relabel.ReviewFilter) *list[relabel.Review] {
	l := &list[relabel.Review]{query: reviewSelect, key: "rv",
		keyOf: func(r relabel.Review) cursor { return cursor{r.CreatedAt, r.ID} }}
	narrow(&l.queryBuilder, "tr.run_id = %s", f.RunID)
	narrow(&l.queryBuilder, "rv.trajectory_id = %s", f.TrajectoryID)
	if f.Flag != "" {
		condition, flag := flagIs(f.Flag)
		l.where(condition, flag)
	}
	return l
}

// mostFlags bounds the list of flags in use.
const mostFlags = 100

// ListFlags lists the flags of reviews of a run (nil: of all runs), the most frequent first.
func (s *Store) ListFlags(ctx context.Context, run *relabel.ID) ([]relabel.FlagCount, error) {
	rows, _ := s.pool.Query(ctx, `SELECT rv.flag, count(*) FROM reviews rv JOIN trajectories tr ON tr.id = rv.trajectory_id
		WHERE rv.flag <> '' AND ($1::uuid IS NULL OR tr.run_id = $1) GROUP BY rv.flag ORDER BY 2 DESC, 1 LIMIT $2`, run, mostFlags)
	flags, err := pgx.CollectRows(rows, pgx.RowToStructByPos[relabel.FlagCount])
	return flags, classify(err)
}
