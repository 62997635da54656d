package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// progressColumns are what a Progress sums up over trajectories of one state.
const progressColumns = `state, count(*), sum(turns), sum(teacher_turns), sum(labels_had), sum(labels_owed), sum(labels_missing),
	count(*) FILTER (WHERE submitted), count(*) FILTER (WHERE resolved), count(resolved)`

// progressRow reads progressColumns and adds them to a Progress.
type progressRow struct {
	state relabel.TrajectoryState
	count int
	one   relabel.Progress
}

func (r *progressRow) fields() []any {
	return []any{&r.state, &r.count, &r.one.Turns, &r.one.TeacherTurns, &r.one.LabelsHad, &r.one.LabelsOwed, &r.one.LabelsMissed,
		&r.one.Submitted, &r.one.Resolved, &r.one.Verified}
}

func (r *progressRow) addTo(sum *relabel.Progress) {
	if sum.Trajectories == nil {
		sum.Trajectories = map[relabel.TrajectoryState]int{}
	}
	sum.Trajectories[r.state] += r.count
	sum.Turns += r.one.Turns
	sum.TeacherTurns += r.one.TeacherTurns
	sum.LabelsHad += r.one.LabelsHad
	sum.LabelsOwed += r.one.LabelsOwed
	sum.LabelsMissed += r.one.LabelsMissed
	sum.Submitted += r.one.Submitted
	sum.Resolved += r.one.Resolved
	sum.Verified += r.one.Verified
}

// Overview says how everything stands. It reads a row of each trajectory and attempt:
// whoever asks often keeps the answer for a while.
func (s *Store) Overview(ctx context.Context) (relabel.Overview, error) {
	o := relabel.Overview{Total: relabel.Progress{Trajectories: map[relabel.TrajectoryState]int{}}, Jobs: map[string]int{}, Runs: []relabel.RunOverview{}}
	b := &pgx.Batch{}
	var row progressRow
	b.Queue("SELECT " + progressColumns + " FROM trajectories GROUP BY state").Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, row.fields(), func() error { row.addTo(&o.Total); return nil })
		return err
	})
	var queue string
	var waiting int
	b.Queue(`SELECT queue, count(*) FROM river_job WHERE state IN ('available', 'pending', 'retryable', 'scheduled') GROUP BY queue`).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&queue, &waiting}, func() error { o.Jobs[queue] = waiting; return nil })
		return err
	})
	var all relabel.TimeReport
	b.Queue(timesOfTrajectories + "tr.state = 'done' GROUP BY tr.id) SELECT " + sums + " FROM each").QueryRow(func(r pgx.Row) error {
		return r.Scan(timeFields(&all)...)
	})
	queueRuns(b, &o)
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return o, classify(err)
	}
	o.Ideal, o.Actual, o.Efficiency = all.Ideal, all.Actual, relabel.Efficiency(all.Ideal, all.Actual)
	return o, nil
}

// queueRuns reads the running iterations of each run.
func queueRuns(b *pgx.Batch, o *relabel.Overview) {
	at := func(id relabel.ID, name string) *relabel.RunOverview {
		if n := len(o.Runs); n == 0 || o.Runs[n-1].RunID != id {
			o.Runs = append(o.Runs, relabel.RunOverview{RunID: id, Name: name})
		}
		return &o.Runs[len(o.Runs)-1]
	}
	var id relabel.ID
	var name string
	var row progressRow
	b.Queue(`SELECT ru.id, ru.name, p.* FROM runs ru JOIN (SELECT run_id, ` + progressColumns + ` FROM trajectories
			WHERE iteration_id IN (SELECT id FROM iterations WHERE state = 'running') GROUP BY run_id, state) AS p ON p.run_id = ru.id
		ORDER BY ru.created_at DESC, ru.id`).Query(func(rows pgx.Rows) error {
		var run relabel.ID
		_, err := pgx.ForEachRow(rows, append([]any{&id, &name, &run}, row.fields()...), func() error {
			row.addTo(&at(id, name).Progress)
			return nil
		})
		return err
	})
	var times relabel.TimeReport
	b.Queue(timesOfTrajectories + `tr.state = 'done' AND tr.iteration_id IN (SELECT id FROM iterations WHERE state = 'running') GROUP BY tr.id)
		SELECT it.run_id, ` + sums + ` FROM each JOIN iterations it ON it.id = each.iteration_id GROUP BY it.run_id`).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, append([]any{&id}, timeFields(&times)...), func() error {
			for i := range o.Runs {
				if o.Runs[i].RunID == id {
					o.Runs[i].Efficiency = relabel.Efficiency(times.Ideal, times.Actual)
				}
			}
			return nil
		})
		return err
	})
}
