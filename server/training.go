package server

import (
	"context"
	"errors"
	"fmt"

	"relabel"
	"relabel/api"
	"relabel/evaluation"
)

// addTraining sets what trained a new policy. CodeInvalid names the field.
func (s *site) addTraining(ctx context.Context, p *relabel.Policy, b api.NewPolicy) error {
	p.Untrained = b.Untrained
	if b.Untrained && (len(b.TrainedOn) > 0 || b.TrainedFrom != "") {
		return relabel.Errorf(relabel.CodeInvalid, "excludes trained_on and trained_from: leave them out, or this").On("untrained")
	}
	if b.TrainedFrom != "" {
		parent, err := s.findPolicy(ctx, b.TrainedFrom)
		if err != nil {
			return asField(err, "trained_from")
		}
		if len(b.TrainedOn) == 0 {
			return relabel.Errorf(relabel.CodeInvalid, "needs trained_on: give the exports that it was trained on since then").On("trained_from")
		}
		p.TrainedFrom = &parent.ID
	}
	seen := map[relabel.ID]bool{}
	for i, of := range b.TrainedOn {
		field := fmt.Sprintf("trained_on[%d].", i)
		if seen[of.Export] {
			return relabel.Errorf(relabel.CodeInvalid, "is given twice: give each export once, with all its epochs").On(field + "export")
		}
		seen[of.Export] = true
		on, err := s.trainedOn(ctx, of)
		if err != nil {
			return below(field, asField(err, "export"))
		}
		p.TrainedOn = append(p.TrainedOn, on)
	}
	return nil
}

// below puts the field of an error below another one.
func below(path string, err error) error {
	if e, ok := errors.AsType[*relabel.Error](err); ok && e.Field != "" {
		return e.On(path + e.Field)
	}
	return err
}

func (s *site) trainedOn(ctx context.Context, of api.NewTrainedOn) (relabel.TrainedOn, error) {
	e, err := s.Store.FindExport(ctx, of.Export)
	if relabel.CodeOf(err) == relabel.CodeNotFound {
		return s.trainedAgain(ctx, of, err)
	}
	if err != nil {
		return relabel.TrainedOn{}, err
	}
	run, err := s.Store.FindRun(ctx, e.Selection.RunID)
	if err != nil {
		return relabel.TrainedOn{}, err
	}
	return e.Trains(run, of.Epochs)
}

// trainedAgain reads what an earlier policy version says of an export that was deleted since; missing is
// the error if there is none.
func (s *site) trainedAgain(ctx context.Context, of api.NewTrainedOn, missing error) (relabel.TrainedOn, error) {
	on, err := s.Store.FindTrained(ctx, of.Export)
	if relabel.CodeOf(err) == relabel.CodeNotFound {
		return on, missing
	}
	if err != nil {
		return on, err
	}
	on.Deleted = true
	return on.Again(of.Epochs)
}

func (s *site) showTraining(ctx context.Context, in *struct {
	Policy string `path:"policy" maxLength:"200" doc:"Its id, its name (then the newest version), or name@version."`
}) (*of[relabel.Training], error) {
	p, err := s.findPolicy(ctx, in.Policy)
	if err != nil {
		return nil, err
	}
	chain, err := s.Store.ListTrainingChain(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	return one(evaluation.Training(chain), nil)
}
