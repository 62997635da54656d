package web

import (
	"fmt"
	"net/http"
	"net/url"

	"relabel"
	"relabel/safetext"
)

const gridRowsShown = 100

type gridView struct {
	Run         relabel.Run
	Columns     []gridColumn
	Rows        []gridRow
	Tasks       int
	Part        string
	Next, First string // addresses; "" if there is none
}

type gridColumn struct{ Short, Name, Link string }

type gridRow struct {
	Task, Link string
	HeldOut    bool
	Cells      []gridCell
}

// gridCell is one task in one iteration; without a link it was not drawn.
type gridCell struct {
	Link, Words string
	Counts      []outcomeCount
}

func (v *viewer) showGrid(w http.ResponseWriter, r *http.Request, run relabel.Run) error {
	q := r.URL.Query()
	if err := notLonger(q, "q"); err != nil {
		return err
	}
	g, next, err := v.Store.ListGrid(r.Context(), run.ID, q.Get("q"), relabel.Page{After: q.Get("after"), Limit: gridRowsShown})
	if err != nil {
		return err
	}
	view := gridView{Run: run, Tasks: g.Tasks, Part: q.Get("q")}
	for _, it := range g.Iterations {
		view.Columns = append(view.Columns, gridColumn{Short: fmt.Sprintf("%.1s%d", it.Kind, it.Number), Name: iterationName(it), Link: iterationPath(it.ID)})
	}
	for _, row := range g.Rows {
		view.Rows = append(view.Rows, viewGridRow(run, g.Iterations, row, view.Columns))
	}
	view.Next, view.First = pageLinks(r, next)
	return v.render(w, r, page{Template: "grid", Title: "Tasks of " + safetext.Plain(run.Name), Section: "Home", Crumbs: []crumb{home, runCrumb(run)},
		Keys: []shortcut{{"← → ↑ ↓ h j k l", "cell"}, {"Enter", "open it"}}, Scripts: []string{"grid.js"}, Follow: "/v1" + runPath(run.ID) + "/events", View: view})
}

func viewGridRow(run relabel.Run, its []relabel.Iteration, row relabel.GridRow, columns []gridColumn) gridRow {
	view := gridRow{Task: row.InstanceID, Link: taskPath(row.TasksetID, row.TaskID, row.InstanceID), HeldOut: row.HeldOut}
	for i, c := range row.Cells {
		cell := gridCell{Counts: outcomeCounts(c)}
		switch {
		case c.Only != nil:
			cell.Link = trajectoryPath(*c.Only)
		case c.Generations() > 0:
			cell.Link = "/trajectories?" + url.Values{"run": {run.ID.String()}, "iteration": {its[i].ID.String()}, "task": {row.TaskID.String()}}.Encode()
		}
		if cell.Link != "" {
			cell.Words = columns[i].Name + ": " + outcomeWords(c)
		}
		view.Cells = append(view.Cells, cell)
	}
	return view
}
