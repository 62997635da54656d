package store

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// figuresSelect sums trajectories by iteration, state and result. It returns the ribbons as
// text: Go counts their letters faster.
const figuresSelect = `SELECT iteration_id, state, coalesce(end_reason, ''), coalesce(failure, ''), verdict, coalesce(verdict_reason, ''), count(*) FILTER (WHERE labels_missing > 0), sum(compared), sum(agreed),
	sum(tool_calls), sum(tool_failures), sum(student_tool_calls), sum(student_tool_failures), coalesce(string_agg(ribbon, ',') FILTER (WHERE turns > 0), ''), ` +
	"count(*), sum(turns), sum(teacher_turns), sum(labels_received), sum(labels_pending), sum(labels_missing), sum(labels_not_selected), count(*) FILTER (WHERE submitted), " +
	"count(*) FILTER (WHERE resolved), count(resolved), count(*) FILTER (WHERE passed AND NOT submitted), count(*) FILTER (WHERE verdict = 'unverified'), count(*) FILTER (WHERE verdict = 'cut'), count(score), count(*) FILTER (WHERE hits > 0), avg(score) FROM trajectories WHERE iteration_id = ANY ($1) GROUP BY iteration_id, state, end_reason, failure, verdict, verdict_reason"

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

func queueSpent(b *pgx.Batch, run relabel.ID, to places) {
	var id relabel.ID
	var sum relabel.Spent
	queueEach(b, []any{&id, &sum.Calls, &sum.Tokens, &sum.PromptTokens, &sum.CachedTokens, &sum.CompletionTokens, &sum.Cost}, func() {
		if f, known := to[id]; known { // else made since
			f.Spent = sum
		}
	}, "SELECT sp.iteration_id, "+spentSums+" FROM spend sp WHERE sp.run_id = $1 GROUP BY sp.iteration_id", run)
}

func queueKappa(b *pgx.Batch, iterations []relabel.ID, to places) {
	var id relabel.ID
	var drawn, ran *float64
	queueEach(b, []any{&id, &drawn, &ran}, func() { to[id].KappaDrawn, to[id].KappaRun = drawn, ran },
		`SELECT iteration_id, avg(kappa)::float8, avg(turns - teacher_turns)::float8 FROM trajectories
		WHERE iteration_id = ANY ($1) AND kappa IS NOT NULL AND end_reason IS NOT NULL GROUP BY iteration_id`, iterations)
}

// CountTasks counts the tasks that iterations of a run may draw, see relabel.TaskCounts. allowed are
// names of benchmarks that reserve nothing.
func (s *Store) CountTasks(ctx context.Context, run relabel.Run, allowed []string) (n relabel.TaskCounts, err error) {
	err = s.pool.QueryRow(ctx, `SELECT count(*) FILTER (WHERE selected AND NOT held_out AND NOT excluded AND re.task_id IS NULL),
			count(*) FILTER (WHERE selected AND NOT held_out AND NOT excluded AND re.task_id IS NOT NULL),
			count(*) FILTER (WHERE held_out AND NOT excluded), count(*) FILTER (WHERE excluded AND (selected OR held_out))
		FROM (SELECT id, held_out, excluded IS NOT NULL AS excluded, cardinality($3::text[]) = 0 OR instance_id = ANY ($3) AS selected
			FROM tasks ta WHERE `+atRevision("$1", "$4")+`) ta
		LEFT JOIN (`+reservedTasks("ta.taskset_id = $1", "$2::text[]")+`) re ON re.task_id = ta.id`,
		run.TasksetID, texts(allowed), texts(run.Instances), run.TasksetRevision).Scan(&n.Open, &n.Reserved, &n.HeldOut, &n.Excluded)
	return n, classify(err)
}

// mostEnded bounds the cached sums: some kilobytes per iteration.
const mostEnded = 1000

// endedSums caches sums over all trajectories of iterations that have ended. They change only
// when an iteration is retried, which changes its end, or graded again, which changes
// regraded_at.
type endedSums[T any] struct {
	mu sync.Mutex
	of map[relabel.ID]endedSum[T]
}

type endedSum[T any] struct {
	changed time.Time
	sum     T
}

// changedAt is the time of the last change of an ended iteration.
func changedAt(it relabel.Iteration) time.Time {
	if it.RegradedAt != nil && it.RegradedAt.After(*it.EndedAt) {
		return *it.RegradedAt
	}
	return *it.EndedAt
}

// find returns the cached sum of an iteration. All callers share it.
func (e *endedSums[T]) find(it relabel.Iteration) (sum T, known bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	one, known := e.of[it.ID]
	if !known || it.EndedAt == nil || !changedAt(it).Equal(one.changed) {
		return sum, false
	}
	return one.sum, true
}

// keep caches the sum of an iteration, read after the iteration itself. It ignores a running
// iteration.
func (e *endedSums[T]) keep(it relabel.Iteration, sum T) {
	if it.EndedAt == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.of == nil || len(e.of) >= mostEnded {
		e.of = map[relabel.ID]endedSum[T]{}
	}
	e.of[it.ID] = endedSum[T]{changedAt(it), sum}
}

// progressColumns are the sums of a Progress over trajectories of one state.
const progressColumns = `state, count(*), sum(turns), sum(teacher_turns), sum(labels_received), sum(labels_pending), sum(labels_missing), sum(labels_not_selected),
	count(*) FILTER (WHERE submitted), count(*) FILTER (WHERE resolved), count(resolved), count(*) FILTER (WHERE passed AND NOT submitted), count(*) FILTER (WHERE verdict = 'unverified'), count(*) FILTER (WHERE verdict = 'cut'), count(score), count(*) FILTER (WHERE hits > 0), avg(score)`

type progressRow struct {
	state relabel.TrajectoryState
	count int
	one   relabel.Progress
}

func (r *progressRow) fields() []any {
	return []any{&r.state, &r.count, &r.one.Turns, &r.one.TeacherTurns, &r.one.LabelsReceived, &r.one.LabelsPending, &r.one.LabelsMissed, &r.one.LabelsNotSelected,
		&r.one.Submitted, &r.one.Resolved, &r.one.Verified, &r.one.PassedUnsubmitted, &r.one.Unverified, &r.one.Cut,
		&r.one.Scored, &r.one.Hit, &r.one.MeanScore}
}

func (r *progressRow) addTo(sum *relabel.Progress) {
	if sum.Trajectories == nil {
		sum.Trajectories = map[relabel.TrajectoryState]int{}
	}
	sum.Trajectories[r.state] += r.count
	sum.Turns += r.one.Turns
	sum.TeacherTurns += r.one.TeacherTurns
	sum.LabelsReceived += r.one.LabelsReceived
	sum.LabelsPending += r.one.LabelsPending
	sum.LabelsMissed += r.one.LabelsMissed
	sum.LabelsNotSelected += r.one.LabelsNotSelected
	sum.Submitted += r.one.Submitted
	sum.Resolved += r.one.Resolved
	sum.Verified += r.one.Verified
	sum.PassedUnsubmitted += r.one.PassedUnsubmitted
	sum.Unverified += r.one.Unverified
	sum.Cut += r.one.Cut
	if r.one.Scored > 0 {
		total := known(sum.MeanScore)*float64(sum.Scored) + *r.one.MeanScore*float64(r.one.Scored)
		sum.Scored += r.one.Scored
		sum.MeanScore = new(total / float64(sum.Scored))
	}
	sum.Hit += r.one.Hit
}

// Overview returns the state of everything. It reads one row per trajectory and attempt, so
// frequent callers should cache it.
func (s *Store) Overview(ctx context.Context) (relabel.Overview, error) {
	o := relabel.Overview{Total: relabel.Progress{Trajectories: map[relabel.TrajectoryState]int{}}, Jobs: map[string]int{}, Runs: []relabel.RunOverview{}}
	b := &pgx.Batch{}
	runs := queueRuns(b, &o)
	queueProgress(b, &o, runs)
	queueTimes(b, &o, runs)
	var queue string
	var waiting int
	queueEach(b, []any{&queue, &waiting}, func() { o.Jobs[queue] = waiting },
		"SELECT queue, count(*) FROM river_job WHERE state IN ('available', 'pending', 'retryable', 'scheduled') GROUP BY queue")
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return o, classify(err)
	}
	var err error
	o.Outages, err = s.ListOutages(ctx, nil)
	return o, err
}

// queueRuns reads the runs with a running iteration, newest first. Their places in o.Runs are
// known when the next answers of the batch are read.
func queueRuns(b *pgx.Batch, o *relabel.Overview) (places map[relabel.ID]int) {
	places = map[relabel.ID]int{}
	var run relabel.RunOverview
	queueEach(b, []any{&run.RunID, &run.Name, &run.Paused}, func() {
		places[run.RunID] = len(o.Runs)
		o.Runs = append(o.Runs, run)
	}, `SELECT id, name, paused IS NOT NULL OR NOT EXISTS (SELECT FROM iterations WHERE run_id = runs.id AND state = 'running' AND paused IS NULL)
		FROM runs WHERE id IN (SELECT run_id FROM iterations WHERE state = 'running') ORDER BY created_at DESC, id`)
	return places
}

// queueProgress sums the progress of everything, and of running iterations by run.
func queueProgress(b *pgx.Batch, o *relabel.Overview, runs map[relabel.ID]int) {
	var iterationRun relabel.ID
	var running bool
	var row progressRow
	queueEach(b, append([]any{&iterationRun, &running}, row.fields()...), func() {
		row.addTo(&o.Total)
		if at, known := runs[iterationRun]; known && running {
			row.addTo(&o.Runs[at].Progress)
		}
	}, "SELECT it.run_id, it.state = 'running', p.* FROM iterations it JOIN LATERAL (SELECT "+progressColumns+` FROM trajectories
		WHERE iteration_id = it.id GROUP BY state) p ON true`)
}

// queueTimes sums the times of everything, and of running iterations by run.
func queueTimes(b *pgx.Batch, o *relabel.Overview, runs map[relabel.ID]int) {
	var iterationRun relabel.ID
	var running bool
	var one, all relabel.TimeReport
	byRun := map[relabel.ID]relabel.TimeReport{}
	b.Queue(`SELECT it.run_id, it.state = 'running', ` + timeSums + timeRows + `JOIN iterations it ON it.id = tr.iteration_id
		GROUP BY it.id`).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, append([]any{&iterationRun, &running}, timeFields(&one)...), func() error {
			all = all.Add(one)
			if running {
				byRun[iterationRun] = byRun[iterationRun].Add(one)
			}
			return nil
		})
		o.Ideal, o.Actual, o.Efficiency = all.Ideal, all.Actual, all.Efficiency
		for run, times := range byRun {
			if at, known := runs[run]; known {
				o.Runs[at].Efficiency = times.Efficiency
			}
		}
		return err
	})
}
