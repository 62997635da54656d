package server

import (
	"context"
	"net/http"
	"strconv"

	"relabel"
	"relabel/api"
)

func (s *site) addTasksets() {
	op := operation(http.MethodPost, "/v1/tasksets", "tasksets", "import-taskset", "Import tasks",
		"Reads files of tasks, in relabel's own format or that of a public data set, as a taskset or, with append, as the next revision of one. The error for a bad row gives its file, number and field, and nothing is imported.")
	op.RequestBody = taskFileBody()
	add(s, op, s.importTaskset)
	add(s, operation(http.MethodGet, "/v1/tasksets", "tasksets", "list-tasksets", "List tasksets", "All tasksets, newest first."), s.listTasksets)
	add(s, operation(http.MethodGet, "/v1/tasksets/{id}", "tasksets", "show-taskset", "Show a taskset", "One taskset with its number of tasks, at its newest or another revision."), s.showTaskset)
	add(s, operation(http.MethodGet, "/v1/tasksets/{id}/revisions", "tasksets", "list-taskset-revisions", "List a taskset's revisions",
		"All revisions of a taskset, newest first. Tasks never change: a revision adds rows, some in the place of earlier ones with the same instance ids."), s.listTasksetRevisions)
	add(s, operation(http.MethodGet, "/v1/tasksets/{id}/tasks", "tasksets", "list-tasks", "List tasks", "The tasks of a taskset at its newest or another revision, with gold and test patches and the benchmarks and exclusion lists that reserve them."), s.listTasks)
}

func (s *site) listTasksets(ctx context.Context, in *api.PageQuery) (*of[api.Page[relabel.Taskset]], error) {
	return pageOf(s.Store.ListTasksets(ctx, page(*in)))
}

func (s *site) showTaskset(ctx context.Context, in *struct {
	IDPath
	api.RevisionQuery
}) (*of[relabel.Taskset], error) {
	return one(s.Store.FindTasksetAt(ctx, in.ID, in.Revision))
}

func (s *site) listTasksetRevisions(ctx context.Context, in *struct {
	IDPath
	api.PageQuery
}) (*of[api.Page[relabel.TasksetRevision]], error) {
	if _, err := s.Store.FindTaskset(ctx, in.ID); err != nil {
		return nil, err
	}
	all, err := s.Store.ListTasksetRevisions(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return pageOf(cut(all, in.PageQuery, func(r relabel.TasksetRevision) string { return strconv.Itoa(r.Revision) }))
}

func (s *site) listTasks(ctx context.Context, in *struct {
	IDPath
	api.RevisionQuery
	api.PageQuery
}) (*of[api.Page[relabel.Task]], error) {
	if _, err := s.Store.FindTasksetAt(ctx, in.ID, in.Revision); err != nil {
		return nil, err
	}
	tasks, next, err := s.Store.ListTasks(ctx, in.ID, in.Revision, page(in.PageQuery))
	if err != nil {
		return nil, err
	}
	ids := make([]relabel.ID, len(tasks))
	for i, t := range tasks {
		ids[i] = t.ID
	}
	names, err := s.Store.ListReservedBy(ctx, ids)
	for i := range tasks {
		tasks[i].ReservedBy = names[tasks[i].ID]
	}
	return pageOf(tasks, next, err)
}
