package store

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// figuresSelect sums trajectories by iteration, state and result. It returns the ribbons as
// text: Go counts their letters faster.
const figuresSelect = `SELECT iteration_id, state, coalesce(end_reason, ''), coalesce(failure, ''), verdict, coalesce(verdict_reason, ''), count(*) FILTER (WHERE labels_missing > 0), sum(compared), sum(agreed),
	sum(tool_calls), sum(tool_failures), sum(student_tool_calls), sum(student_tool_failures), coalesce(string_agg(ribbon, ',') FILTER (WHERE turns > 0), ''), ` +
	"count(*), sum(turns), sum(teacher_turns), sum(labels_received), sum(labels_pending), sum(labels_missing), count(*) FILTER (WHERE submitted), " +
	"count(*) FILTER (WHERE resolved), count(resolved), count(*) FILTER (WHERE passed AND NOT submitted) FROM trajectories WHERE iteration_id = ANY ($1) GROUP BY iteration_id, state, end_reason, failure, verdict, verdict_reason"

// ListFigures returns the figures of a run's iterations in the order of creation; none if there
// is no such run. It reads one row per trajectory, for ended iterations only once. The caller
// must not change the maps and slices, which are shared.
func (s *Store) ListFigures(ctx context.Context, run relabel.ID) ([]relabel.Figures, error) {
	its, err := s.ListIterations(ctx, run)
	if err != nil {
		return nil, err
	}
	list := make([]relabel.Figures, len(its))
	all, unread := places{}, places{}
	var ids []relabel.ID
	for i, it := range its {
		known := false
		if list[i], known = s.figures.find(it); !known {
			list[i] = noFigures()
			unread[it.ID], ids = &list[i], append(ids, it.ID)
		}
		list[i].Iteration = it
		all[it.ID] = &list[i]
	}
	b := &pgx.Batch{}
	if len(ids) > 0 {
		queueFigures(b, ids, unread)
		queueKappa(b, ids, unread)
	}
	queueSpent(b, run, all)
	if err := classify(s.pool.SendBatch(ctx, b).Close()); err != nil {
		return nil, err
	}
	for _, f := range unread {
		s.figures.keep(f.Iteration, *f)
	}
	return list, nil
}

// places are the figures to fill, by iteration.
type places map[relabel.ID]*relabel.Figures

func noFigures() relabel.Figures {
	return relabel.Figures{Progress: relabel.Progress{Trajectories: map[relabel.TrajectoryState]int{}}, ByTurn: []relabel.TurnFigures{},
		Verdicts: map[relabel.VerdictKind]int{}, EndReasons: map[relabel.EndReason]int{}, Failures: map[relabel.FailureReason]int{},
		Unresolved: map[relabel.VerdictReason]int{}, UnresolvedEnds: map[relabel.EndReason]int{}}
}

// queueFigures reads the figures of the trajectories.
func queueFigures(b *pgx.Batch, iterations []relabel.ID, to places) {
	var id relabel.ID
	var row progressRow
	var end relabel.EndReason
	var failure relabel.FailureReason
	var verdict relabel.VerdictKind
	var reason relabel.VerdictReason
	var one relabel.Figures
	var ribbons string
	into := []any{&id, &row.state, &end, &failure, &verdict, &reason, &one.LackLabels, &one.Compared, &one.Agreed,
		&one.ToolCalls, &one.ToolFailures, &one.StudentToolCalls, &one.StudentToolFailures, &ribbons}
	queueEach(b, append(into, row.fields()[1:]...), func() {
		f := to[id]
		row.addTo(&f.Progress)
		f.Verdicts[verdict] += row.count
		f.LackLabels += one.LackLabels
		if unresolved := row.one.Verified - row.one.Resolved; unresolved > 0 {
			f.Unresolved[reason] += unresolved
			f.UnresolvedEnds[end] += unresolved
			f.UnresolvedSubmitted += row.one.Submitted - row.one.Resolved
		}
		if end != "" {
			f.EndReasons[end] += row.count
		}
		if failure != "" {
			f.Failures[failure] += row.count
		}
		f.Compared, f.Agreed = f.Compared+one.Compared, f.Agreed+one.Agreed
		f.ToolCalls, f.ToolFailures = f.ToolCalls+one.ToolCalls, f.ToolFailures+one.ToolFailures
		f.StudentToolCalls, f.StudentToolFailures = f.StudentToolCalls+one.StudentToolCalls, f.StudentToolFailures+one.StudentToolFailures
		for ribbon := range strings.SplitSeq(ribbons, ",") {
			f.CountRibbon(relabel.Ribbon(ribbon))
		}
	}, figuresSelect, iterations)
}

// queueSpent reads the usage of the iterations' calls.
func queueSpent(b *pgx.Batch, run relabel.ID, to places) {
	var id relabel.ID
	var sum relabel.Spent
	queueEach(b, []any{&id, &sum.Calls, &sum.Tokens, &sum.PromptTokens, &sum.CachedTokens, &sum.CompletionTokens, &sum.Cost}, func() {
		if f, known := to[id]; known { // else made since
			f.Spent = sum
		}
	}, "SELECT sp.iteration_id, "+spentSums+" FROM spend sp WHERE sp.run_id = $1 GROUP BY sp.iteration_id", run)
}

// queueKappa reads the means of the drawn and the executed κ.
func queueKappa(b *pgx.Batch, iterations []relabel.ID, to places) {
	var id relabel.ID
	var drawn, ran *float64
	queueEach(b, []any{&id, &drawn, &ran}, func() { to[id].KappaDrawn, to[id].KappaRun = drawn, ran },
		`SELECT iteration_id, avg(kappa)::float8, avg(turns - teacher_turns)::float8 FROM trajectories
		WHERE iteration_id = ANY ($1) AND kappa IS NOT NULL AND end_reason IS NOT NULL GROUP BY iteration_id`, iterations)
}

// CountTasks counts a taskset's tasks that iterations may draw, and those held out for
// evaluation.
func (s *Store) CountTasks(ctx context.Context, taskset relabel.ID) (open, heldOut int, err error) {
	err = s.pool.QueryRow(ctx, "SELECT count(*) FILTER (WHERE NOT held_out), count(*) FILTER (WHERE held_out) FROM tasks WHERE taskset_id = $1", taskset).Scan(&open, &heldOut)
	return open, heldOut, classify(err)
}
