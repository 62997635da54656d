package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// progressColumns are the sums of a Progress over trajectories of one state.
const progressColumns = `state, count(*), sum(turns), sum(teacher_turns), sum(labels_received), sum(labels_pending), sum(labels_missing),
	count(*) FILTER (WHERE submitted), count(*) FILTER (WHERE resolved), count(resolved), count(*) FILTER (WHERE passed AND NOT submitted)`

// progressRow reads progressColumns and adds them to a Progress.
type progressRow struct {
	state relabel.TrajectoryState
	count int
	one   relabel.Progress
}

func (r *progressRow) fields() []any {
	return []any{&r.state, &r.count, &r.one.Turns, &r.one.TeacherTurns, &r.one.LabelsReceived, &r.one.LabelsPending, &r.one.LabelsMissed,
		&r.one.Submitted, &r.one.Resolved, &r.one.Verified, &r.one.PassedUnsubmitted}
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
	sum.Submitted += r.one.Submitted
	sum.Resolved += r.one.Resolved
	sum.Verified += r.one.Verified
	sum.PassedUnsubmitted += r.one.PassedUnsubmitted
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
