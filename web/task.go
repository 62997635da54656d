package web

import (
	"net/http"
	"net/url"
	"strings"

	"relabel"
	"relabel/safetext"
	"relabel/web/show"
)

type taskView struct {
	relabel.Task
	Set         relabel.Taskset
	Problem     show.Body
	Hints       *show.Body
	Gold, Tests show.Patch
	List        listView
}

// Functions and Files are the gold of a task to localise, the first of them.
func (v taskView) Functions() goldList { return placesOf(v.GoldFunctions, nil) }
func (v taskView) Files() goldList     { return placesOf(v.GoldFiles, nil) }

func (v *viewer) showTask(w http.ResponseWriter, r *http.Request, set relabel.Taskset) error {
	task, err := v.findTask(r.Context(), set.ID, r.PathValue("instance"))
	if err != nil {
		return err
	}
	reservedBy, err := v.Store.ListReservedBy(r.Context(), []relabel.ID{task.ID})
	if err != nil {
		return err
	}
	task.ReservedBy = reservedBy[task.ID]
	view := taskView{Task: task, Set: set, Problem: show.Whole(task.ProblemStatement), Gold: show.WholePatch(task.Patch), Tests: show.WholePatch(task.TestPatch)}
	if strings.TrimSpace(task.HintsText) != "" {
		view.Hints = new(show.Whole(task.HintsText))
	}
	place := listPlace{Path: taskPath(set.ID, task.ID, task.InstanceID), InREST: url.Values{"task": {task.ID.String()}},
		Narrow: func(f *relabel.TrajectoryFilter) { f.TaskID = &task.ID }, Columns: columns{Run: true, Iteration: true, Student: true, Pick: true}}
	if view.List, err = v.list(r, place); err != nil {
		return err
	}
	view.List.A, view.List.B = twoToCompare(view.List.Rows)
	return v.render(w, r, page{Template: "task", Title: safetext.Plain(task.InstanceID), Section: "Tasks", Crumbs: tasksetCrumbs(set), Keys: listKeys, Scripts: []string{"list.js"}, Follow: "/v1/events", View: view})
}

// twoToCompare proposes the newest successful and unsuccessful trajectories (resolved or not, with a hit or
// without), or the newest two.
func twoToCompare(list []listRow) (a, b string) {
	var good, bad, begun []string
	for _, t := range list {
		id := t.ID.String()
		if t.Turns == 0 {
			continue
		}
		begun = append(begun, id)
		switch {
		case t.Resolved != nil && *t.Resolved, t.Hits != nil && *t.Hits > 0:
			good = append(good, id)
		case t.Resolved != nil, t.Hits != nil:
			bad = append(bad, id)
		}
	}
	switch {
	case len(good) > 0 && len(bad) > 0:
		return good[0], bad[0]
	case len(begun) >= 2:
		return begun[0], begun[1]
	}
	return "", ""
}
