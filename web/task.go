package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"relabel"
	"relabel/safetext"
	"relabel/web/show"
)

// taskView is a task with its trajectories.
type taskView struct {
	relabel.Task
	Set         relabel.Taskset
	Problem     show.Body
	Hints       *show.Body
	Gold, Tests show.Patch
	List        listView
}

func (v *viewer) showTask(w http.ResponseWriter, r *http.Request) error {
	set, err := v.taskset(r)
	if err != nil {
		return err
	}
	task, err := v.findTask(r.Context(), set.ID, r.PathValue("instance"))
	if err != nil {
		return err
	}
	view := taskView{Task: task, Set: set, Problem: show.Whole(task.ProblemStatement), Gold: show.WholePatch(task.Patch), Tests: show.WholePatch(task.TestPatch)}
	if strings.TrimSpace(task.HintsText) != "" {
		view.Hints = new(show.Whole(task.HintsText))
	}
	place := listPlace{Path: taskPath(set.ID.String(), task.ID, task.InstanceID), InREST: url.Values{"task": {task.ID.String()}},
		Narrow: func(f *relabel.TrajectoryFilter) { f.TaskID = &task.ID }, Columns: columns{Run: true, Iteration: true, Student: true, Pick: true}}
	if view.List, err = v.list(r, place); err != nil {
		return err
	}
	view.List.A, view.List.B = twoToCompare(view.List.Rows)
	return v.render(w, r, page{Template: "task", Title: safetext.Plain(task.InstanceID), Section: "Tasks", Crumbs: tasksetCrumbs(set), Keys: listKeys, Scripts: []string{"list.js"}, Follow: "/v1/events", View: view})
}

func (v *viewer) studentName(ctx context.Context, iteration relabel.ID) (string, error) {
	it, _, err := v.Store.FindIteration(ctx, iteration)
	if err != nil {
		return "", err
	}
	return v.policyName(ctx, it.StudentID)
}

// twoToCompare proposes which two to compare: the newest that passed and the newest that
// did not, or the newest two that have turns.
func twoToCompare(list []listRow) (a, b string) {
	var passed, failed *relabel.Trajectory
	var begun []relabel.ID
	for i := range list {
		if list[i].Turns > 0 {
			begun = append(begun, list[i].ID)
		}
		switch t := &list[i].Trajectory; {
		case t.Turns == 0:
		case t.Resolved != nil && *t.Resolved && passed == nil:
			passed = t
		case t.Resolved != nil && !*t.Resolved && failed == nil:
			failed = t
		}
	}
	switch {
	case passed != nil && failed != nil:
		return passed.ID.String(), failed.ID.String()
	case len(begun) >= 2:
		return begun[0].String(), begun[1].String()
	}
	return "", ""
}
