package server

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"relabel"
	"relabel/api"
	"relabel/tasks"
)

func (s *site) addTasksets() {
	op := operation(http.MethodPost, "/v1/tasksets", "tasksets", "import-taskset", "Import tasks",
		"Reads a JSONL file of tasks, in relabel's own format or one of the SWE-bench family, as one taskset. The error for a bad line gives its number and field, and nothing is imported.")
	op.RequestBody = &huma.RequestBody{Required: true, Description: "The JSONL file, one task per line; at most 256 MiB.",
		Content: map[string]*huma.MediaType{"application/x-ndjson": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}}
	add(s, op, s.importTaskset)
	add(s, operation(http.MethodGet, "/v1/tasksets", "tasksets", "list-tasksets", "List tasksets", "All tasksets, newest first."), s.listTasksets)
	add(s, operation(http.MethodGet, "/v1/tasksets/{id}", "tasksets", "show-taskset", "Show a taskset", "One taskset with its number of tasks, at its newest or another revision."), s.showTaskset)
	add(s, operation(http.MethodGet, "/v1/tasksets/{id}/revisions", "tasksets", "list-taskset-revisions", "List a taskset's revisions",
		"All revisions of a taskset, newest first. Tasks never change: a revision adds rows, some in the place of earlier ones with the same instance ids."), s.listTasksetRevisions)
	add(s, operation(http.MethodGet, "/v1/tasksets/{id}/tasks", "tasksets", "list-tasks", "List tasks", "The tasks of a taskset at its newest or another revision, with gold and test patches."), s.listTasks)
}

type importTaskset struct {
	Name    string       `query:"name" required:"true" minLength:"1" maxLength:"200" doc:"The taskset's name; no other may have it."`
	Format  tasks.Format `query:"format" enum:"auto,relabel,swebench,swebenchlive,swegym,swerebench,swerebenchv2" default:"auto" doc:"Format of the lines; auto detects it from their fields."`
	HeldOut []string     `query:"held_out,explode" maxItems:"10000" doc:"Instance ids that are never rolled out for training. Separated by commas, or given more than once."`
	Count   int          `query:"held_out_count" minimum:"0" maximum:"1000000" doc:"Instead of a list: number of tasks to hold out, drawn with the seed."`
	Seed    int64        `query:"held_out_seed" doc:"Seed of that draw: the same seed holds out the same tasks on any machine."`
}

func (s *site) importTaskset(ctx context.Context, in *importTaskset) (*of[api.ImportedTaskset], error) {
	if err := checkNewName(in.Name); err != nil {
		return nil, err
	}
	upload := uploadOf(ctx)
	if upload.Size() == 0 {
		return nil, relabel.Errorf(api.CodeMalformed, "the request has no body; send the task file as it is")
	}
	// One file at a time is held in memory as tasks.
	leave, err := s.bodies.beginParse(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	file, err := s.ParseTasks(upload, in.Format)
	if err != nil {
		return nil, err
	}
	tasks := file.Tasks
	if len(tasks) == 0 {
		return nil, relabel.Errorf(relabel.CodeInvalid, "no task in it").On("body")
	}
	set := relabel.Taskset{ID: relabel.NewID(), Name: in.Name, Digest: file.Digest, Kind: tasks[0].Kind, Tasks: len(tasks)}
	for i := range tasks {
		tasks[i].ID, tasks[i].TasksetID = relabel.NewID(), set.ID
	}
	if set.HeldOut, err = s.holdOut(tasks, in); err != nil {
		return nil, err
	}
	if err := s.Store.CreateTaskset(ctx, set, tasks); err != nil {
		return nil, err
	}
	stored, err := s.Store.FindTaskset(ctx, set.ID)
	return one(api.ImportedTaskset{Taskset: stored, UnusedFields: file.Unused}, err)
}

// holdOut marks the tasks that the request holds out, and counts them.
func (s *site) holdOut(all []relabel.Task, in *importTaskset) (int, error) {
	chosen := strings.FieldsFunc(strings.Join(in.HeldOut, ","), func(r rune) bool { return r == ',' })
	switch {
	case in.Count > 0 && len(chosen) > 0:
		return 0, relabel.Errorf(relabel.CodeInvalid, "give a list or a number, not both").On("held_out_count")
	case in.Count > len(all):
		return 0, relabel.Errorf(relabel.CodeInvalid, "there are only %d tasks", len(all)).On("held_out_count")
	case in.Count > 0:
		ids := make([]string, len(all))
		for i, t := range all {
			ids[i] = t.InstanceID
		}
		chosen = s.DrawHeldOut(in.Seed, ids, in.Count)
	}
	if len(chosen) > 0 {
		if err := tasks.MarkHeldOut(all, chosen); err != nil {
			return 0, err
		}
	}
	n := 0
	for _, t := range all {
		if t.HeldOut {
			n++
		}
	}
	return n, nil
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
	return pageOf(s.Store.ListTasks(ctx, in.ID, in.Revision, page(in.PageQuery)))
}
