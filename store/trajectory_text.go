package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// resolvedFilter is a filter with the rows that its texts match. They are resolved first, since
// the planner cannot estimate a text condition.
type resolvedFilter struct {
	relabel.TrajectoryFilter
	tasks     []relabel.ID // of the instance, or a part of it; nil if none is asked for
	textTasks []relabel.ID // whose instance id holds Text
	textOf    []relabel.ID // trajectories of which something else does
	reviewed  []relabel.ID // trajectories with the flag or review asked for; nil if there are too many to name
}

// byFigure reports whether the filter bounds a figure.
func (f resolvedFilter) byFigure() bool {
	return f.MinTurns != nil || f.MaxTurns != nil || f.MinAgreement != nil || f.MaxAgreement != nil
}

const (
	tasksHolding = "SELECT ta.id FROM tasks ta WHERE position(lower($1) IN lower(ta.instance_id)) > 0"
	// textsHolding searches the short texts of trajectories.
	textsHolding = `SELECT tr.id FROM trajectories tr WHERE tr.failure IS NOT NULL AND position(lower($1) IN lower(tr.failure_detail)) > 0
		UNION SELECT v.trajectory_id FROM trajectories tr JOIN verdicts v ON v.trajectory_id = tr.id AND v.attempt = tr.attempt
			WHERE tr.verdict = 'error' AND position(lower($1) IN lower(v.infra)) > 0
		UNION SELECT rv.trajectory_id FROM reviews rv WHERE position(lower($1) IN lower(rv.flag || E'\n' || rv.note || E'\n' || rv.author)) > 0`
)

// seek resolves a filter's texts and reviews.
func seek(ctx context.Context, tx pgx.Tx, f relabel.TrajectoryFilter) (resolvedFilter, error) {
	found := resolvedFilter{TrajectoryFilter: f}
	ids := func(into *[]relabel.ID, sql string, args ...any) error {
		rows, _ := tx.Query(ctx, sql, args...)
		some, err := pgx.AppendRows([]relabel.ID{}, rows, pgx.RowTo[relabel.ID])
		*into = some
		return err
	}
	instance, part, text := validUTF8(f.InstanceID), validUTF8(f.InstancePart), strings.TrimSpace(validUTF8(f.Text))
	found.Text = text
	switch {
	case instance != "" && part != "":
		if err := ids(&found.tasks, tasksHolding+" AND ta.instance_id = $2", part, instance); err != nil {
			return found, err
		}
	case instance != "":
		if err := ids(&found.tasks, "SELECT ta.id FROM tasks ta WHERE ta.instance_id = $1", instance); err != nil {
			return found, err
		}
	case part != "":
		if err := ids(&found.tasks, tasksHolding, part); err != nil {
			return found, err
		}
	}
	if err := found.seekReviews(ctx, tx); err != nil || text == "" {
		return found, err
	}
	if err := ids(&found.textTasks, tasksHolding, text); err != nil {
		return found, err
	}
	return found, ids(&found.textOf, textsHolding, text)
}

// namedReviews bounds the reviewed trajectories that are listed by id.
const namedReviews = 10_000

// seekReviews finds the trajectories with the reviews of the filter.
func (f *resolvedFilter) seekReviews(ctx context.Context, tx pgx.Tx) error {
	condition, args := "true", []any{}
	switch {
	case f.Flag != "":
		is, flag := flagIs(f.Flag)
		condition, args = fmt.Sprintf(is, "$1"), []any{flag}
	case f.Reviewed == nil || !*f.Reviewed:
		return nil
	}
	rows, _ := tx.Query(ctx, fmt.Sprintf("SELECT DISTINCT rv.trajectory_id FROM reviews rv WHERE %s LIMIT %d", condition, namedReviews+1), args...)
	ids, err := pgx.AppendRows([]relabel.ID{}, rows, pgx.RowTo[relabel.ID])
	if len(ids) <= namedReviews {
		f.reviewed = ids
	}
	return err
}
