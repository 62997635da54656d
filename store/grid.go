package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// ListGrid returns a page of the tasks that a run has drawn whose instance id contains part
// ("": all), in the byte order of instance ids, with their results by iteration. Evaluations may have
// tasks of other task sets with the same instance ids. CodeNotFound
// if there is no such run, CodeInvalid for an invalid page.
func (s *Store) ListGrid(ctx context.Context, run relabel.ID, part string, p relabel.Page) (g relabel.Grid, next string, err error) {
	after, limit, err := gridPage(p)
	if err != nil {
		return g, "", err
	}
	if _, err := s.FindRun(ctx, run); err != nil {
		return g, "", err
	}
	part = validUTF8(part)
	err = s.read(ctx, func(tx pgx.Tx) error {
		if g.Iterations, err = readAll[relabel.Iteration](ctx, tx,
			iterationSelect+" WHERE it.run_id = $1 ORDER BY it.created_at, it.id", run); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, gridCount, run, part).Scan(&g.Tasks); err != nil {
			return err
		}
		rows, _ := tx.Query(ctx, gridTasks, run, part, after.InstanceID, after.TaskID, limit+1)
		g.Rows, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r relabel.GridRow, err error) {
			r.Cells = make([]relabel.GridCell, len(g.Iterations))
			return r, row.Scan(&r.TaskID, &r.TasksetID, &r.InstanceID, &r.HeldOut)
		})
		if err != nil {
			return err
		}
		if len(g.Rows) > limit {
			g.Rows = g.Rows[:limit]
			next = gridCursor(g.Rows[limit-1])
		}
		return fillGrid(ctx, tx, g)
	})
	return g, next, classify(err)
}

// gridCursor names the last row of a page as clients send it back: by the task's id and instance id.
func gridCursor(last relabel.GridRow) string {
	return nameCursor(last.TaskID.String() + last.InstanceID)
}

// gridPage returns the row that a page follows, zero for the first page, and how many rows it holds.
func gridPage(p relabel.Page) (after relabel.GridRow, limit int, err error) {
	word, limit, err := namePage(p)
	if err != nil || word == "" {
		return after, limit, err
	}
	const idLength = 36
	if len(word) < idLength {
		return after, 0, relabel.Errorf(relabel.CodeInvalid, "this page value does not belong to this list").On("after")
	}
	after.InstanceID = word[idLength:]
	after.TaskID, err = relabel.ParseID("after", word[:idLength])
	return after, limit, err
}

// gridDrawn are the drawn tasks of run $1 whose instance id contains $2.
const gridDrawn = ` FROM tasks ta WHERE ta.id IN (SELECT tr.task_id FROM iterations it JOIN trajectories tr ON tr.iteration_id = it.id WHERE it.run_id = $1)
	AND position(lower($2) IN lower(ta.instance_id)) > 0`

const (
	gridCount = "SELECT count(*)" + gridDrawn
	gridTasks = "SELECT ta.id, ta.taskset_id, ta.instance_id, ta.held_out" + gridDrawn + " AND (ta.instance_id, ta.id) > ($3, $4) ORDER BY ta.instance_id, ta.id LIMIT $5"
	gridCells = `SELECT tr.task_id, tr.iteration_id, ` + cellCounts + `
		FROM trajectories tr WHERE tr.iteration_id = ANY ($1) AND tr.task_id = ANY ($2) GROUP BY tr.task_id, tr.iteration_id`
)

// cellCounts counts trajectories tr by result, each once.
const cellCounts = `count(*) FILTER (WHERE tr.resolved),
	count(*) FILTER (WHERE tr.passed AND NOT tr.submitted),
	count(*) FILTER (WHERE NOT tr.passed AND tr.end_reason <> 'wall_clock'),
	count(*) FILTER (WHERE NOT tr.passed AND tr.end_reason = 'wall_clock'),
	count(*) FILTER (WHERE tr.state = 'failed' OR tr.verdict = 'error'),
	count(*) FILTER (WHERE tr.verdict = 'unverified'),
	count(*) FILTER (WHERE tr.verdict = 'cut'),
	count(*) FILTER (WHERE tr.hits > 0),
	count(*) FILTER (WHERE tr.hits = 0),
	count(*) FILTER (WHERE tr.state IN ('running', 'labelling', 'verifying')),
	count(*) FILTER (WHERE tr.state = 'queued'),
	count(*) FILTER (WHERE tr.state = 'cancelled'),
	CASE WHEN count(*) = 1 THEN (array_agg(tr.id))[1] END`

func cellFields(c *relabel.GridCell) []any {
	return []any{&c.Resolved, &c.PassedUnsubmitted, &c.Failed, &c.TimeLimit, &c.Error, &c.Unverified, &c.Cut, &c.Hit, &c.Missed, &c.Running, &c.Queued, &c.Cancelled, &c.Only}
}

func fillGrid(ctx context.Context, tx pgx.Tx, g relabel.Grid) error {
	iterations, tasks := make([]relabel.ID, len(g.Iterations)), make([]relabel.ID, len(g.Rows))
	column, row := map[relabel.ID]int{}, map[relabel.ID]int{}
	for i, it := range g.Iterations {
		iterations[i], column[it.ID] = it.ID, i
	}
	for i, r := range g.Rows {
		tasks[i], row[r.TaskID] = r.TaskID, i
	}
	rows, _ := tx.Query(ctx, gridCells, iterations, tasks)
	var task, iteration relabel.ID
	var c relabel.GridCell
	_, err := pgx.ForEachRow(rows, append([]any{&task, &iteration}, cellFields(&c)...), func() error {
		g.Rows[row[task]].Cells[column[iteration]] = c
		return nil
	})
	return err
}
