package store

import (
	"fmt"
	"math"
	"strings"
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
	// IS NOT NULL follows from the equality and repeats the condition of the partial index: the
	// planner does not infer it for false.
	narrow(q, "tr.submitted IS NOT NULL AND tr.submitted = %s", f.Submitted)
	narrow(q, "tr.resolved IS NOT NULL AND tr.resolved = %s", f.Resolved)
	if f.LabelsMissing {
		q.where("tr.labels_missing > 0")
	}
	if f.MinTurns != nil || f.MaxTurns != nil {
		q.between("tr.final_turns", "tr.turns", atLeast(f.MinTurns, 0), atLeast(f.MaxTurns, math.MaxInt32), of)
	}
	if f.MinAgreement != nil || f.MaxAgreement != nil {
		q.between("tr.final_agreement", "tr.agreed::float8 / nullif(tr.compared, 0)", atLeast(f.MinAgreement, 0), atLeast(f.MaxAgreement, 1), of)
	}
	q.reviewed(f)
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

// reviewed restricts by reviews.
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
