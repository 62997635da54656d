package server

import (
	"context"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"relabel"
	"relabel/api"
	"relabel/tasks"
)

// taskFileKinds are the content types of a file of tasks, which is recognised by its bytes all the same.
var taskFileKinds = []string{"application/octet-stream", "application/x-ndjson", "application/x-tar"}

// taskFileBody describes the body of an import.
func taskFileBody() *huma.RequestBody {
	body := &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{},
		Description: "A file of tasks, one per row: JSONL, a JSON array or Parquet, the first two also in gzip or zstd, or a tar archive of such files; recognised by its bytes. At most 8 GiB; a row at most 32 MiB."}
	for _, kind := range taskFileKinds {
		body.Content[kind] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	}
	return body
}

type importTaskset struct {
	Name    string       `query:"name" required:"true" minLength:"1" maxLength:"200" doc:"The taskset's name; no other may have it, and with append one must have it."`
	Format  tasks.Format `query:"format" enum:"auto,relabel,swebench,swebenchlive,swegym,swerebench,swerebenchv2,swesmith,r2egym,scaleswe,swebenchpro,multiswebench" default:"auto" doc:"Format of the rows; auto detects it from their fields."`
	File    string       `query:"file" maxLength:"255" doc:"Name of the file, which then begins the errors about it; the files of a tar archive have their own names."`
	Split   string       `query:"split" maxLength:"200" doc:"Of a tar archive, only the files of this split: train of data/train-00000-of-00003.parquet. Empty means all files."`
	Append  bool         `query:"append" doc:"Add the tasks to the taskset of that name, as its next revision. A task that it has already with equal content is counted as unchanged; with other content, the import is refused."`
	SkipBad bool         `query:"skip_bad" doc:"Leave out rows that cannot be read, and report them, instead of refusing the import."`
	HeldOut []string     `query:"held_out,explode" maxItems:"10000" doc:"Instance ids that are never rolled out for training. Separated by commas, or given more than once."`
	Count   int          `query:"held_out_count" minimum:"0" maximum:"1000000" doc:"Instead of a list: number of tasks of the files to hold out, drawn with the seed; with append, of those that the taskset does not have."`
	Seed    int64        `query:"held_out_seed" doc:"Seed of that draw: the same seed holds out the same tasks on any machine."`
}

func (s *site) importTaskset(ctx context.Context, in *importTaskset) (*of[api.ImportedTaskset], error) {
	if err := checkNewName(in.Name); err != nil {
		return nil, err
	}
	upload, digest := uploadOf(ctx)
	if upload.Size() == 0 {
		return nil, relabel.Errorf(api.CodeMalformed, "the request has no body; send the task file as it is")
	}
	// One import at a time is read: its instance ids are in memory.
	leave, err := s.bodies.beginImport(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	set, err := tasks.Open(untilDone{ctx, upload}, tasks.Options{Format: in.Format, File: in.File, Split: in.Split, SkipBad: in.SkipBad})
	if err != nil {
		return nil, err
	}
	report, err := set.Check()
	if err != nil {
		return nil, err
	}
	heldOut, err := s.holdOut(ctx, report.IDs, in)
	if err != nil {
		return nil, err
	}
	answer := api.ImportedTaskset{Files: report.Files, UnusedFields: report.Unused, SkippedRows: report.Skips, Skipped: skipped(report.Skipped)}
	stored := relabel.Taskset{ID: relabel.NewID(), Name: in.Name, Digest: digest, Kind: report.Kind}
	if in.Append {
		err = s.appendTasks(ctx, stored, marked(set.Tasks(), heldOut), &answer)
	} else {
		answer.Added = len(report.IDs)
		err = s.Store.CreateTaskset(ctx, stored, marked(set.Tasks(), heldOut))
	}
	if err != nil {
		return nil, err
	}
	answer.Taskset, err = s.Store.FindTasksetByName(ctx, in.Name)
	return one(answer, err)
}

// appendTasks adds tasks to the taskset of a name.
func (s *site) appendTasks(ctx context.Context, to relabel.Taskset, all iter.Seq2[relabel.Task, error], answer *api.ImportedTaskset) error {
	set, err := s.Store.FindTasksetByName(ctx, to.Name)
	if err != nil {
		return err
	}
	if set.Kind != to.Kind {
		return relabel.Errorf(relabel.CodeInvalid, "the taskset has tasks of the kind %s, and the file of %s", set.Kind, to.Kind).On("append")
	}
	answer.Added, answer.Unchanged, err = s.Store.AppendTasks(ctx, set.ID, to.Digest, all)
	return err
}

// untilDone fails to read when the request is over.
type untilDone struct {
	ctx context.Context
	*io.SectionReader
}

// ReadAt reads from the upload.
func (u untilDone) ReadAt(p []byte, at int64) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.SectionReader.ReadAt(p, at)
}

// holdOut returns the instance ids that the request holds out.
func (s *site) holdOut(ctx context.Context, ids []string, in *importTaskset) (map[string]bool, error) {
	chosen := strings.FieldsFunc(strings.Join(in.HeldOut, ","), func(r rune) bool { return r == ',' })
	if in.Count == 0 {
		return tasks.HeldOut(ids, chosen)
	}
	if len(chosen) > 0 {
		return nil, relabel.Errorf(relabel.CodeInvalid, "give a list or a number, not both").On("held_out_count")
	}
	drawn, word := ids, "tasks"
	if in.Append {
		var err error
		if drawn, err = s.newIn(ctx, in.Name, ids); err != nil || len(drawn) == 0 { // the same append again adds nothing
			return nil, err
		}
		word = "new tasks"
	}
	if in.Count > len(drawn) {
		return nil, relabel.Errorf(relabel.CodeInvalid, "is %d; the number of %s is %d", in.Count, word, len(drawn)).On("held_out_count")
	}
	return tasks.HeldOut(ids, s.DrawHeldOut(in.Seed, slices.Clone(drawn), in.Count))
}

// newIn returns the instance ids that the taskset of a name does not have.
func (s *site) newIn(ctx context.Context, name string, ids []string) ([]string, error) {
	set, err := s.Store.FindTasksetByName(ctx, name)
	if err != nil {
		return nil, err
	}
	all, err := s.Store.ListTaskNames(ctx, set.ID, 0)
	if err != nil {
		return nil, err
	}
	has := make(map[string]bool, len(all))
	for _, t := range all {
		has[t.InstanceID] = true
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return has[id] }), nil
}

// marked marks the held-out tasks and gives each an id.
func marked(all iter.Seq2[relabel.Task, error], heldOut map[string]bool) iter.Seq2[relabel.Task, error] {
	return func(yield func(relabel.Task, error) bool) {
		for task, err := range all {
			task.ID, task.HeldOut = relabel.NewID(), heldOut[task.InstanceID]
			if !yield(task, err) {
				return
			}
		}
	}
}

// skipped are the problems of rows that were left out.
func skipped(problems []tasks.Problem) []api.SkippedRow {
	rows := make([]api.SkippedRow, len(problems))
	for i, p := range problems {
		rows[i] = api.SkippedRow{File: p.File, Row: p.Row, Field: p.Field, Message: p.Message}
	}
	return rows
}
