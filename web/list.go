package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"relabel"
	"relabel/web/show"
)

const rowsShown = 50

var listKeys = []shortcut{{"j k", "row"}, {"Enter", "open it"}, {"/", "filter"}, {"n p", "next, previous page"}}

type listView struct {
	Rows                  []listRow
	Headings              []heading
	Form                  filterForm
	Total, Of             int
	Exact                 bool // else there are more than Total
	First, Previous, Next string
	JSON                  string // address of the same in REST
	Texts                 string // address of the search in the texts of these
	Run                   *relabel.Run
	Iteration             *relabel.Iteration

	columns columns
	A, B    string // what comparing begins with, where two can be picked
}

// columns are the optional columns of a list.
type columns struct{ Task, Run, Iteration, Student, Pick, Score bool }

// Has returns the optional columns of the list.
func (v listView) Has() columns { return v.columns }

// Flagged is the list of the trajectories with a flag, in the run if one is chosen.
func (v listView) Flagged(flag string) string {
	q := url.Values{"flag": {flag}}
	if v.Run != nil {
		q.Set("run", v.Run.ID.String())
	}
	return "/trajectories?" + q.Encode()
}

type listRow struct {
	relabel.Trajectory
	Run, Student string
	Trace        trace
	Took         string
}

// listPlace is the page of a list: its path, what it narrows the list to, and the equivalent query
// of the REST interface.
type listPlace struct {
	Path    string
	Narrow  func(*relabel.TrajectoryFilter)
	InREST  url.Values
	Columns columns
}

func (v *viewer) showTrajectories(w http.ResponseWriter, r *http.Request) error {
	view, err := v.list(r, listPlace{Path: "/trajectories", Columns: columns{Task: true, Run: true, Iteration: true}})
	if err != nil {
		return err
	}
	p := page{Template: "trajectories", Title: "Trajectories", Section: "Trajectories", Keys: listKeys, Scripts: []string{"list.js"}, Follow: "/v1/events", Crumbs: view.crumbs(), View: view}
	switch {
	case view.Iteration != nil:
		p.Follow = "/v1" + iterationPath(view.Iteration.ID) + "/events"
	case view.Run != nil:
		p.Follow = "/v1" + runPath(view.Run.ID) + "/events"
	}
	return v.render(w, r, p)
}

func (v listView) crumbs() []crumb {
	if v.Run == nil {
		return nil
	}
	way := []crumb{home, runCrumb(*v.Run)}
	if v.Iteration != nil {
		way = append(way, iterationCrumb(*v.Iteration))
	}
	return way
}

// list reads the list that the URL asks for.
func (v *viewer) list(r *http.Request, at listPlace) (listView, error) {
	ctx, q := r.Context(), r.URL.Query()
	filter, err := v.filterOf(ctx, q)
	if err != nil {
		return listView{}, err
	}
	view := listView{columns: at.Columns}
	if err := v.nameFilter(ctx, filter, &view); err != nil {
		return view, err
	}
	if at.Narrow != nil {
		at.Narrow(&filter)
	}
	sort := relabel.TrajectorySort(q.Get("sort"))
	found, err := v.Store.ListTrajectories(ctx, filter, sort, relabel.Page{After: q.Get("after"), Before: q.Get("before"), Limit: rowsShown})
	if err != nil {
		return view, err
	}
	view.Total, view.Of, view.Exact = found.Total, found.Of, found.Exact
	to := listAddress{at.Path, q}
	view.Next, view.Previous = to.page("after", found.Next), to.page("before", found.Previous)
	if q.Has("after") || q.Has("before") {
		view.First = to.with("", "")
	}
	view.columns.Run = at.Columns.Run && view.Run == nil
	view.columns.Iteration = at.Columns.Iteration && view.Iteration == nil
	view.columns.Score = sort == relabel.HighestScore || sort == relabel.LowestScore ||
		slices.ContainsFunc(found.Items, func(t relabel.Trajectory) bool { return t.Score != nil })
	view.Headings = headingsOf(view.columns, sort, to)
	view.JSON, view.Texts = listAddress{"/v1/trajectories", q}.narrowed(at.InREST), listAddress{searchPath, q}.narrowed(at.InREST)
	if view.Rows, err = v.listRows(ctx, found.Items, view.columns); err != nil {
		return view, err
	}
	if wants(r, "filter") { // parts that are requested alone have none
		view.Form, err = v.filterForm(ctx, at, q, view)
	}
	return view, err
}

// nameFilter finds the run and the iteration of the filter.
func (v *viewer) nameFilter(ctx context.Context, f relabel.TrajectoryFilter, view *listView) error {
	l, run := load{ctx: ctx}, f.RunID
	if f.IterationID != nil {
		view.Iteration = new(relabel.Iteration)
		read(&l, view.Iteration, v.findIteration, *f.IterationID)
		run = cmp.Or(run, &view.Iteration.RunID)
	}
	if run != nil {
		view.Run = new(relabel.Run)
		read(&l, view.Run, v.Store.FindRun, *run)
	}
	return l.err
}

// listRows adds the columns that are not fields of trajectories.
func (v *viewer) listRows(ctx context.Context, list []relabel.Trajectory, has columns) ([]listRow, error) {
	l, runName, studentName := load{ctx: ctx}, remember(v.runName), remember(v.studentName)
	rows := make([]listRow, len(list))
	for i, t := range list {
		rows[i] = listRow{Trajectory: t, Trace: traceOf(t.Ribbon), Took: tookOf(t)}
		if has.Run {
			read(&l, &rows[i].Run, runName, t.RunID)
		}
		if has.Student {
			read(&l, &rows[i].Student, studentName, t.IterationID)
		}
	}
	return rows, l.err
}

// tookOf is the duration of a trajectory, from its first claim to its end or to now.
func tookOf(t relabel.Trajectory) string {
	if t.StartedAt == nil {
		return "–"
	}
	end := time.Now()
	if t.EndedAt != nil {
		end = *t.EndedAt
	}
	took := end.Sub(*t.StartedAt)
	if took > 10*time.Second {
		took = took.Round(time.Second)
	}
	return show.Duration(max(took.Milliseconds(), 0))
}
