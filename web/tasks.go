package web

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"relabel"
	"relabel/safetext"
)

const tasksShown = 50

func (v *viewer) taskRoutes() routes {
	to := routes{"GET /tasks": v.listTasksets, "GET /tasks/{taskset}/overlaps": of(v.tasksetOf, v.showOverlaps), "GET /tasks/{taskset}": of(v.tasksetOf, v.listTasks), "GET /tasks/{taskset}/{instance}": of(v.tasksetOf, v.showTask),
		"GET /tasks/{taskset}/images": of(v.tasksetOf, v.listImages)}
	v.addOperation(to, "/tasks/{taskset}/images/check", on(v.tasksetOf, v.checkImages))
	return to
}

func (v *viewer) listTasksets(w http.ResponseWriter, r *http.Request) error {
	sets, next, err := v.Store.ListTasksets(r.Context(), relabel.Page{After: r.URL.Query().Get("after"), Limit: tasksShown})
	if err != nil {
		return err
	}
	nextLink, first := pageLinks(r, next)
	return v.render(w, r, page{Template: "tasksets", Title: "Tasks", Section: "Tasks", View: map[string]any{"Sets": sets, "Next": nextLink, "First": first}})
}

type taskRow struct {
	relabel.TaskHead
	Link   string
	Counts []outcomeCount
	Words  string
	// ReservedBy are the benchmarks and exclusion lists that reserve the task.
	ReservedBy []string
}

type taskListView struct {
	Set           relabel.Taskset
	Tasks         []taskRow
	Part, HeldOut string
	Revision      int // 0: the newest
	Next, First   string
}

func (v *viewer) listTasks(w http.ResponseWriter, r *http.Request, set relabel.Taskset) error {
	q := r.URL.Query()
	if err := notLonger(q, "q"); err != nil {
		return err
	}
	view := taskListView{Set: set, Part: q.Get("q"), HeldOut: q.Get("held_out")}
	var err error
	if view.Revision, err = revisionOf(r); err != nil {
		return err
	}
	if view.Set, err = v.Store.FindTasksetAt(r.Context(), set.ID, view.Revision); err != nil {
		return err
	}
	filter := relabel.TaskFilter{Revision: view.Revision, Part: view.Part}
	switch view.HeldOut {
	case "true", "false":
		filter.HeldOut = new(view.HeldOut == "true")
	case "":
	default:
		return relabel.Errorf(relabel.CodeInvalid, "%.100q is neither true nor false", safetext.Plain(view.HeldOut)).On("held_out")
	}
	heads, next, err := v.Store.ListTaskHeads(r.Context(), set.ID, filter, relabel.Page{After: q.Get("after"), Limit: tasksShown})
	if err != nil {
		return err
	}
	ids := make([]relabel.ID, len(heads))
	for i, h := range heads {
		ids[i] = h.ID
	}
	reservedBy, err := v.Store.ListReservedBy(r.Context(), ids)
	if err != nil {
		return err
	}
	for _, h := range heads {
		view.Tasks = append(view.Tasks, taskRow{TaskHead: h, Link: taskPath(set.ID, h.ID, h.InstanceID), Counts: outcomeCounts(h.Outcomes), Words: outcomeWords(h.Outcomes),
			ReservedBy: reservedBy[h.ID]})
	}
	view.Next, view.First = pageLinks(r, next)
	return v.render(w, r, page{Template: "tasks", Title: "Tasks of " + safetext.Plain(set.Name), Section: "Tasks", Crumbs: tasksetCrumbs(set)[:1], View: view})
}

// findTask finds a task by its instance id or its own.
func (v *viewer) findTask(ctx context.Context, set relabel.ID, word string) (relabel.Task, error) {
	task, err := v.Store.FindTaskByInstance(ctx, set, word)
	if id, parseErr := uuid.Parse(word); parseErr == nil && relabel.CodeOf(err) == relabel.CodeNotFound {
		if task, err = v.Store.FindTask(ctx, id); err == nil && task.TasksetID != set {
			err = relabel.Errorf(relabel.CodeNotFound, "The taskset has no such task.")
		}
	}
	return task, err
}
