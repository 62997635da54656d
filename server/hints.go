package server

import (
	"cmp"
	"context"
	"strings"

	"relabel"
	"relabel/api"
)

// hintsOf says which evaluation the agents of a new run get hints from; nil without a request for any.
func (s *site) hintsOf(ctx context.Context, b api.NewRun, r relabel.Run) (*relabel.HintSource, error) {
	switch {
	case b.HintsFrom == "" && b.HintsEvaluation != 0:
		return nil, relabel.Errorf(relabel.CodeInvalid, "needs hints_from").On("hints_evaluation")
	case b.HintsFrom == "" && b.HintsTop != 0:
		return nil, relabel.Errorf(relabel.CodeInvalid, "needs hints_from").On("hints_top")
	case b.HintsFrom == "":
		return nil, nil
	case r.TaskKind != relabel.Repair:
		return nil, relabel.Errorf(relabel.CodeInvalid, "is only for tasks to repair: this task set has %s", r.TaskKind.Words()).On("hints_from")
	case !strings.Contains(r.Prompts.First, "{hints_text}"):
		return nil, relabel.Errorf(relabel.CodeInvalid, "the first message has no {hints_text}, so that the agents would not see the hints").On("prompts.first")
	}
	from, err := s.findRun(ctx, b.HintsFrom)
	if err != nil {
		return nil, asField(err, "hints_from")
	}
	if from.TaskKind != relabel.Localise {
		return nil, relabel.Errorf(relabel.CodeInvalid, "is a run of %s: give one of tasks to localise", from.TaskKind.Words()).On("hints_from")
	}
	it, err := s.doneEvaluation(ctx, from, b.HintsEvaluation)
	if err != nil {
		return nil, err
	}
	return &relabel.HintSource{RunID: from.ID, Run: from.Name, IterationID: it.ID, Evaluation: it.Number, Top: cmp.Or(b.HintsTop, relabel.DefaultHints)}, nil
}

// doneEvaluation returns the done evaluation of a run with the number; 0: the newest.
func (s *site) doneEvaluation(ctx context.Context, run relabel.Run, number int) (last relabel.Iteration, err error) {
	all, err := s.Store.ListIterations(ctx, run.ID)
	if err != nil {
		return last, err
	}
	for _, it := range all {
		if it.Kind == relabel.Evaluate && it.State == relabel.IterationDone && (number == 0 || it.Number == number) {
			last = it
		}
	}
	switch {
	case last.Number != 0:
		return last, nil
	case number != 0:
		return last, relabel.Errorf(relabel.CodeInvalid, "the run %s has no evaluation %d that is done", run.Name, number).On("hints_evaluation")
	}
	return last, relabel.Errorf(relabel.CodeInvalid, "the run %s has no evaluation that is done", run.Name).On("hints_from")
}
