package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"relabel"
	"relabel/api"
	"relabel/trainers"
)

func (s *site) addExports() {
	add(s, operation(http.MethodPost, "/v1/exports", "exports", "start-export", "Start an export",
		"Queues a data set of a run's labelled states. Held-out tasks, abandoned attempts and evaluations are never exported. "+
			"A running iteration is refused, except with unfinished, which exports its done trajectories."), s.startExport)
	add(s, operation(http.MethodGet, "/v1/exports", "exports", "list-exports", "List exports", "Exports, newest first: all, or those of a run."), s.listExports)
	add(s, operation(http.MethodGet, "/v1/exports/{id}", "exports", "show-export", "Show an export", "One export with its progress, its files and the excluded states."), s.showExport)
	add(s, action("/v1/exports/{id}/cancel", "exports", "cancel-export", "Cancel an export",
		"Cancels an export that is not done and removes its files."), s.cancelExport)
	s.addPushes()
	add(s, operation(http.MethodDelete, "/v1/exports/{id}", "exports", "delete-export", "Delete an export",
		"Deletes an export that has ended and its files at the destination. Other files there stay."), s.deleteExport)
}

func (s *site) startExport(ctx context.Context, in *of[api.NewExport]) (*of[relabel.Export], error) {
	b := in.Body
	run, err := s.findRun(ctx, b.Run)
	if err != nil {
		return nil, asField(err, "run")
	}
	e := relabel.Export{ID: relabel.NewID(), State: relabel.ExportQueued, Destination: b.Destination}
	sel, last, err := s.selection(ctx, b.LabelSelection, run)
	if err != nil {
		return nil, err
	}
	e.Selection = sel
	if e.Mix, err = s.mix(ctx, b, run, sel); err != nil {
		return nil, err
	}
	if e.Form, err = s.exportForm(ctx, b.ExportForm, last.StudentID); err != nil {
		return nil, err
	}
	if err := s.checkTrainer(ctx, e); err != nil {
		return nil, err
	}
	if e, err = s.Exports.Prepare(ctx, run.Recipe, e); err != nil {
		return nil, err
	}
	if err := s.Store.CreateExport(ctx, e); err != nil {
		return nil, err
	}
	return s.findExport(ctx, e.ID)
}

// selection returns the requested selection from a run, with the default filters of its recipe, and the last
// of the exported iterations.
func (s *site) selection(ctx context.Context, b api.LabelSelection, run relabel.Run) (sel relabel.ExportSelection, last relabel.Iteration, err error) {
	if sel, err = b.Selection(run); err != nil {
		return sel, last, err
	}
	sel.RunID = run.ID
	if err := s.checkFlags(ctx, run.ID, b.ExcludeFlags); err != nil {
		return sel, last, err
	}
	if err := s.checkAllowed(ctx, b.AllowBenchmarks); err != nil {
		return sel, last, err
	}
	if sel.LabelPolicyID, err = s.labelPolicy(ctx, b.LabelPolicy, run); err != nil {
		return sel, last, err
	}
	last, err = s.lastIteration(ctx, run.Recipe.DefaultKind(), sel)
	sel.Iteration = last.Number
	return sel, last, err
}

// labelPolicy returns the policy whose labels are exported instead of the teacher's; nil: the teacher's.
func (s *site) labelPolicy(ctx context.Context, word string, run relabel.Run) (*relabel.ID, error) {
	imported := run.Scaffold == relabel.ScaffoldImported // the teacher's labels are those of a relabeling
	if word == "" && imported {
		return &run.TeacherID, nil
	}
	if word == "" {
		return nil, nil
	}
	if run.Recipe.OnPolicy() {
		return nil, relabel.Errorf(relabel.CodeInvalid, "must be omitted: the labels of recipe %s are the student's own actions", run.Recipe).On("label_policy")
	}
	policy, err := s.findPolicy(ctx, word)
	if err != nil {
		return nil, asField(err, "label_policy")
	}
	if policy.ID == run.TeacherID && !imported { // whose labels leave anyhow
		return nil, nil
	}
	return &policy.ID, nil
}

// checkFlags refuses flags that neither a review of the run nor a failure mode has: a mistyped one
// would silently exclude nothing.
func (s *site) checkFlags(ctx context.Context, run relabel.ID, flags []string) error {
	for i, flag := range flags {
		field := fmt.Sprintf("exclude_flags[%d]", i)
		switch {
		case flag == relabel.AnyFlag, slices.Contains(relabel.ModeFlags(), flag):
			continue
		case isModeFlag(flag):
			return relabel.Errorf(relabel.CodeInvalid, "there is no such failure mode: the flags of modes are %s", strings.Join(relabel.ModeFlags(), ", ")).On(field)
		case !relabel.IsFlag(flag):
			return relabel.Errorf(relabel.CodeInvalid, "%.100q cannot be a flag", flag).On(field)
		}
		found, _, err := s.Store.ListReviews(ctx, relabel.ReviewFilter{RunID: &run, Flag: flag}, relabel.Page{Limit: 1})
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return relabel.Errorf(relabel.CodeInvalid, "no review of this run has the flag %q, so it would exclude nothing", flag).On(field)
		}
	}
	return nil
}

func isModeFlag(flag string) bool {
	_, is := relabel.CutModeFlag(flag)
	return is
}

// exportForm fills in the defaults: tokenizer and template are those of the last iteration's
// student.
func (s *site) exportForm(ctx context.Context, f relabel.ExportForm, student relabel.ID) (relabel.ExportForm, error) {
	f, err := trainers.Resolve(f)
	if err != nil {
		return f, err
	}
	f.Arguments = relabel.ArgumentsForm(unless(string(f.Arguments), "auto"))
	f.Reasoning = relabel.ReasoningForm(unless(string(f.Reasoning), "template"))
	options, err := canonicalObject(f.TemplateOptions)
	if err != nil {
		return f, relabel.Errorf(relabel.CodeInvalid, "must be a JSON object").On("template_options").Because(err)
	}
	f.TemplateOptions = options
	if f.Tokens() && f.Tokenizer == "" && student != (relabel.ID{}) {
		policy, err := s.Store.FindPolicy(ctx, student)
		if err != nil {
			return f, err
		}
		f.Tokenizer, f.TokenizerHash = policy.Tokenizer, policy.TokenizerHash
		if f.Template == "" && f.TemplateText == "" {
			f.Template, f.TemplateText = policy.ChatTemplate, policy.TemplateText
		}
		return f, nil
	}
	ref, err := s.findTokenizer(ctx, f.Tokenizer)
	f.TokenizerHash = ref.Hash
	return f, err
}

// canonicalObject encodes an object with sorted keys, so that equal options have equal bytes;
// nil if it is empty.
func canonicalObject(text json.RawMessage) (json.RawMessage, error) {
	if len(text) == 0 {
		return nil, nil
	}
	var object map[string]json.RawMessage // numbers stay as they were written
	if err := json.Unmarshal(text, &object); err != nil || len(object) == 0 {
		return nil, err
	}
	return json.Marshal(object)
}

// unless returns text, or "" if it equals nothing, the value that stands for no choice.
func unless(text, nothing string) string {
	if text == nothing {
		return ""
	}
	return text
}

// lastIteration returns the last exported iteration: the requested one, else the latest that is
// done or, with Unfinished, done or running. It refuses an iteration that does not exist, and
// without Unfinished a running one, of which the data set would silently hold only a part. Those that
// only measure are never exported.
func (s *site) lastIteration(ctx context.Context, kind relabel.IterationKind, sel relabel.ExportSelection) (last relabel.Iteration, err error) {
	its, err := s.Store.ListIterations(ctx, sel.RunID)
	if err != nil {
		return last, err
	}
	its = slices.DeleteFunc(its, func(it relabel.Iteration) bool { return it.Kind != kind || it.BenchmarkID != nil })
	if last, err = chosenIteration(its, kind, sel); err != nil {
		return last, err
	}
	for _, it := range its {
		if !sel.Unfinished && it.State == relabel.IterationRunning && (it.Number == last.Number || sel.Aggregated && it.Number < last.Number) {
			return last, relabel.Errorf(relabel.CodeConflict, "%s iteration %d is still running: wait until it is done, cancel it, or export its finished trajectories (unfinished)", kind, it.Number).On("iteration")
		}
	}
	return last, nil
}

// chosenIteration finds, among a run's iterations of a kind, the one that sel asks for.
func chosenIteration(its []relabel.Iteration, kind relabel.IterationKind, sel relabel.ExportSelection) (last relabel.Iteration, err error) {
	newest := 0
	for _, it := range its {
		newest = max(newest, it.Number)
		is := it.State == relabel.IterationDone || sel.Unfinished && it.State == relabel.IterationRunning
		if sel.Iteration != 0 {
			is = it.Number == sel.Iteration
		}
		if is && it.Number > last.Number {
			last = it
		}
	}
	switch {
	case last.Number > 0:
		return last, nil
	case sel.Iteration != 0:
		return last, relabel.Errorf(relabel.CodeInvalid, "the run has no %s iteration %d to export: the newest is %d", kind, sel.Iteration, newest).On("iteration")
	case newest == 0:
		return last, relabel.Errorf(relabel.CodeConflict, "the run has no %s iteration to export", kind).On("iteration")
	}
	return last, relabel.Errorf(relabel.CodeConflict, "no %s iteration of the run is done: wait until one is, or export the finished trajectories of a running one (unfinished)", kind).On("iteration")
}

func (s *site) listExports(ctx context.Context, in *struct {
	api.ExportQuery
	api.PageQuery
}) (*of[api.Page[relabel.Export]], error) {
	q := &queryReader{}
	filter := relabel.ExportFilter{RunID: q.id("run", in.Run)}
	if q.err != nil {
		return nil, q.err
	}
	exports, next, err := s.Store.ListExports(ctx, filter, page(in.PageQuery))
	for i := range exports {
		exports[i] = viewExport(exports[i])
	}
	return pageOf(exports, next, err)
}

func (s *site) showExport(ctx context.Context, in *IDPath) (*of[relabel.Export], error) {
	return s.findExport(ctx, in.ID)
}

func (s *site) findExport(ctx context.Context, id relabel.ID) (*of[relabel.Export], error) {
	e, err := s.Store.FindExport(ctx, id)
	return one(viewExport(e), err)
}

// viewExport shows an export that is still to be written with no files rather than null.
func viewExport(e relabel.Export) relabel.Export {
	if e.Excluded == nil {
		e.Excluded = map[string]int{}
	}
	if e.Files == nil {
		e.Files = []relabel.ExportFile{}
	}
	return e
}

func (s *site) cancelExport(ctx context.Context, in *IDPath) (*of[relabel.Export], error) {
	if err := s.Store.CancelExport(ctx, in.ID); err != nil {
		return nil, err
	}
	return s.findExport(ctx, in.ID)
}

// ExportToDelete names an export to delete and says whether to delete its record even if its
// files cannot be removed.
type ExportToDelete struct {
	IDPath
	LeaveFiles bool `query:"leave_files" doc:"If its files cannot be removed (the destination is unreachable, or they are on another machine), delete the export anyway and leave them. The answer lists what was left. Without it the export is kept, and 503 or 409 gives the reason."`
}

// deleteExport removes the files first: an export whose files could not be removed stays
// listed, and can be deleted again.
func (s *site) deleteExport(ctx context.Context, in *ExportToDelete) (*of[api.ExportDeleted], error) {
	e, err := s.Store.FindExport(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if e.State == relabel.ExportQueued || e.State == relabel.ExportRunning {
		return nil, relabel.Errorf(relabel.CodeConflict, "the export is %s: cancel it first", e.State)
	}
	if e.OpenPush() != nil {
		return nil, relabel.Errorf(relabel.CodeConflict, "the export is being pushed: wait for that push, or cancel it")
	}
	deleted := api.ExportDeleted{ID: e.ID}
	var why *relabel.Error
	if err := s.Exports.Remove(ctx, e); err != nil {
		switch {
		case !errors.As(err, &why):
			return nil, err
		case !in.LeaveFiles:
			said := *why
			said.Message += "; nothing is deleted: try again, or leave its files there (leave_files)"
			return nil, &said
		}
		deleted.Left = fmt.Sprintf("what there is in %s could not be removed: %s", e.Directory, why.Message)
		s.Log.Warn().Err(err).Stringer("export", e.ID).Str("directory", e.Directory).Msg("an export was deleted, but its files remain")
	}
	return one(deleted, s.Store.DeleteExport(ctx, in.ID))
}
