package store

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// queryBuilder collects the conditions and arguments of a query.
type queryBuilder struct {
	scope []string // conditions on their iterations it
	rows  []string // conditions on them
	args  []any
}

// arg adds an argument and returns its placeholder.
func (q *queryBuilder) arg(v any) string {
	q.args = append(q.args, v)
	return fmt.Sprintf("$%d", len(q.args))
}

func (q *queryBuilder) where(condition string, args ...any) {
	names := make([]any, len(args))
	for i, v := range args {
		names[i] = q.arg(v)
	}
	q.rows = append(q.rows, fmt.Sprintf(condition, names...))
}

// narrow adds a condition on a value unless that is unset: nil or zero.
func narrow[V comparable](q *queryBuilder, condition string, v V) {
	var unset V
	if v != unset {
		q.where(condition, v)
	}
}

// within restricts the query to the filter's iterations.
func (q *queryBuilder) within(f resolvedFilter) {
	add := func(condition string, v any) { q.scope = append(q.scope, fmt.Sprintf(condition, q.arg(v))) }
	if f.RunID != nil {
		add("it.run_id = %s", *f.RunID)
	}
	if f.IterationID != nil {
		add("it.id = %s", *f.IterationID)
	}
	if f.IterationNumber != 0 {
		add("it.number = %s", f.IterationNumber)
	}
	if f.TasksetID != nil {
		add("it.run_id IN (SELECT ru.id FROM runs ru WHERE ru.taskset_id = %s)", *f.TasksetID)
	}
}

// among is within for conditions on the trajectories themselves. With an iteration it omits the
// run, which the planner would count as an additional restriction.
func (q *queryBuilder) among(f resolvedFilter) {
	its := &queryBuilder{args: q.args}
	its.within(f)
	switch {
	case f.IterationID != nil:
		q.args = its.args
		q.rows = append(q.rows, "tr.iteration_id = (SELECT it.id FROM iterations it WHERE "+all(its.scope)+")")
		return
	case f.IterationNumber != 0:
		q.args = its.args
		q.rows = append(q.rows, "tr.iteration_id = ANY (ARRAY(SELECT it.id FROM iterations it WHERE "+all(its.scope)+"))")
		return
	}
	narrow(q, "tr.run_id = %s", f.RunID)
	narrow(q, "tr.run_id IN (SELECT ru.id FROM runs ru WHERE ru.taskset_id = %s)", f.TasksetID)
}

// filter restricts the rows of a segment to those that match the filter.
func (q *queryBuilder) filter(f resolvedFilter, of segment) {
	if of.holds != "" {
		q.where(of.holds)
	}
	narrow(q, "tr.task_id = %s", f.TaskID)
	if f.tasks != nil {
		q.where("tr.task_id = ANY (%s)", f.tasks)
	}
	if f.Text != "" {
		q.where("(tr.task_id = ANY (%s) OR tr.id = ANY (%s))", f.textTasks, f.textOf)
	}
	narrow(q, "tr.state = %s", validUTF8(string(f.State)))
	narrow(q, "tr.end_reason = %s", validUTF8(string(f.EndReason)))
	narrow(q, "tr.failure = %s", validUTF8(string(f.Failure)))
	narrow(q, "tr.verdict = %s", validUTF8(string(f.Verdict)))
	narrow(q, "tr.verdict_reason = %s", validUTF8(string(f.VerdictReason)))
	narrow(q, "tr.failure_mode = %s", validUTF8(string(f.FailureMode)))
	narrow(q, "tr.id IN (SELECT jo.trajectory_id FROM judgings jo WHERE jo.mode = %s)", validUTF8(string(f.JudgedMode)))
	// IS NOT NULL follows from the equality and repeats the condition of the partial index: the
	// planner does not infer it for false.
	narrow(q, "tr.submitted IS NOT NULL AND tr.submitted = %s", f.Submitted)
	narrow(q, "tr.resolved IS NOT NULL AND tr.resolved = %s", f.Resolved)
	narrow(q, "tr.hits IS NOT NULL AND (tr.hits > 0) = %s", f.Hit)
	q.toolUse(f.ToolUseError)
	if f.LabelsMissing {
		q.where("tr.labels_missing > 0")
	}
	if f.MinTurns != nil || f.MaxTurns != nil {
		q.between("tr.final_turns", "tr.turns", atLeast(f.MinTurns, 0), atLeast(f.MaxTurns, math.MaxInt32), of)
	}
	if f.MinAgreement != nil || f.MaxAgreement != nil {
		q.between("tr.final_agreement", "tr.agreed::float8 / nullif(tr.compared, 0)", atLeast(f.MinAgreement, 0), atLeast(f.MaxAgreement, 1), of)
	}
	if f.MinScore != nil || f.MaxScore != nil {
		q.between("tr.score", "tr.score", atLeast(f.MinScore, 0), atLeast(f.MaxScore, 1), of)
	}
	q.reviewed(f)
}

func (q *queryBuilder) toolUse(c relabel.ToolUseChoice) {
	if c == "" {
		return
	}
	q.where("tr.tool_use_error IS NOT NULL AND tr.tool_use_error = %s", c != relabel.NoToolUseErrors)
	if c == relabel.ToolUseUnresolved {
		q.where("tr.failure_mode IS NOT NULL AND tr.verdict <> 'unverified' AND tr.failure_rules >= %s", relabel.FailureRules)
	}
}

func atLeast[T any](v *T, otherwise T) any {
	if v == nil {
		return otherwise
	}
	return *v
}

// between restricts a figure to an inclusive range: the final value of ended rows, which an
// index holds, and the current value of the others.
func (q *queryBuilder) between(final, now string, low, high any, of segment) {
	a, b := q.arg(low), q.arg(high)
	over, open := fmt.Sprintf("%s BETWEEN %s AND %s", final, a, b), fmt.Sprintf("%s BETWEEN %s AND %s", now, a, b)
	switch {
	case of.over:
		q.rows = append(q.rows, over)
	case of.open:
		q.rows = append(q.rows, open)
	default:
		q.rows = append(q.rows, "("+over+" OR tr.ended_at IS NULL AND "+open+")")
	}
}

func (q *queryBuilder) reviewed(f resolvedFilter) {
	switch {
	case f.reviewed != nil:
		q.where("tr.id = ANY (%s)", f.reviewed)
	case f.Flag != "":
		condition, flag := flagIs(f.Flag)
		q.where("tr.id IN (SELECT rv.trajectory_id FROM reviews rv WHERE "+condition+")", flag)
	}
	if f.Reviewed == nil {
		return
	}
	if *f.Reviewed && f.reviewed == nil {
		q.where("tr.id IN (SELECT rv.trajectory_id FROM reviews rv)")
	} else if !*f.Reviewed {
		q.where("NOT EXISTS (SELECT FROM reviews rv WHERE rv.trajectory_id = tr.id)")
	}
}

func all(conditions []string) string {
	if len(conditions) == 0 {
		return "true"
	}
	return strings.Join(conditions, " AND ")
}

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
	return f.MinTurns != nil || f.MaxTurns != nil || f.MinAgreement != nil || f.MaxAgreement != nil || f.MinScore != nil || f.MaxScore != nil
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
