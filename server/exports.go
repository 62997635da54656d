package server

import (
	"context"
	"net/http"
	"slices"

	"relabel"
)

func (s *site) addExports() {
	add(s, operation(http.MethodPost, "/v1/exports", "exports", "start-export", "Start an export",
		"Queues a data set of a run's labelled states. Held-out tasks, attempts that were given up and evaluations never leave. "+
			"An iteration that is still running is refused: wait until it is done, or cancel it."), s.startExport)
	add(s, operation(http.MethodGet, "/v1/exports", "exports", "list-exports", "List exports", "All exports, newest first."), s.listExports)
	add(s, operation(http.MethodGet, "/v1/exports/{id}", "exports", "show-export", "Show an export", "One export, with its files and what was left out."), s.showExport)
}

// NewExport says what leaves, and in which form.
type NewExport struct {
	Run        relabel.ID `json:"run" format:"uuid" doc:"Id of the run."`
	Iteration  int        `json:"iteration,omitempty" minimum:"0" maximum:"1000000" doc:"Number of the collect iteration; 0: the latest done one."`
	Aggregated bool       `json:"aggregated,omitempty" doc:"Also every earlier iteration: D1 ∪ … ∪ Di (eq. 3)."`
	Submitted  bool       `json:"submitted,omitempty" doc:"Only trajectories with a valid submission (paper F.2)."`
	Resolved   bool       `json:"resolved,omitempty" doc:"Only resolved trajectories."`
	// LabelPolicy is a word for a policy; the selection has its id.
	LabelPolicy string `json:"label_policy,omitempty" maxLength:"200" doc:"Whose labels leave: a policy's id, its name, or name@version, that relabelings asked. States that it did not answer are left out. Empty: the run's teacher."`
	View        string `json:"view,omitempty" enum:"messages" default:"messages" doc:"Form of the rows: messages is (state, label) as chat messages."`
}

func (s *site) startExport(ctx context.Context, in *of[NewExport]) (*of[relabel.Export], error) {
	b := in.Body
	run, err := s.Store.FindRun(ctx, b.Run)
	if err != nil {
		return nil, asField(err, "run")
	}
	e := relabel.Export{ID: relabel.NewID(), View: b.View, State: relabel.ExportQueued,
		Selection: relabel.ExportSelection{RunID: b.Run, Iteration: b.Iteration, Aggregated: b.Aggregated, Submitted: b.Submitted, Resolved: b.Resolved}}
	if b.LabelPolicy != "" {
		policy, err := s.findPolicy(ctx, b.LabelPolicy)
		if err != nil {
			return nil, asField(err, "label_policy")
		}
		if policy.ID != run.TeacherID { // whose labels leave anyhow
			e.Selection.LabelPolicyID = &policy.ID
		}
	}
	if err := s.checkIterations(ctx, e.Selection); err != nil {
		return nil, err
	}
	if err := s.Store.CreateExport(ctx, e); err != nil {
		return nil, err
	}
	return s.findExport(ctx, e.ID)
}

// checkIterations refuses a selection of an iteration that is not there, or still runs:
// the data set would hold a part of it, and not say which.
func (s *site) checkIterations(ctx context.Context, sel relabel.ExportSelection) error {
	its, err := s.Store.ListIterations(ctx, sel.RunID)
	if err != nil {
		return err
	}
	its = slices.DeleteFunc(its, func(it relabel.Iteration) bool { return it.Kind != relabel.Collect })
	newest, done := 0, 0
	for _, it := range its {
		newest = max(newest, it.Number)
		if it.State == relabel.IterationDone {
			done = max(done, it.Number)
		}
	}
	if sel.Iteration > newest {
		return relabel.Errorf(relabel.CodeInvalid, "the run has %d collect iterations", newest).On("iteration")
	}
	last := sel.Iteration
	if last == 0 {
		last = done
	}
	for _, it := range its {
		if it.State == relabel.IterationRunning && (it.Number == last || sel.Aggregated && it.Number < last) {
			return relabel.Errorf(relabel.CodeConflict, "collect iteration %d is still running: wait until it is done, or cancel it", it.Number).On("iteration")
		}
	}
	return nil
}

func (s *site) listExports(ctx context.Context, in *PageQuery) (*of[Page[relabel.Export]], error) {
	exports, next, err := s.Store.ListExports(ctx, in.page())
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
	if e.LeftOut == nil {
		e.LeftOut = map[string]int{}
	}
	if e.Files == nil {
		e.Files = []relabel.ExportFile{}
	}
	return e
}
