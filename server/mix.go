package server

import (
	"context"
	"fmt"

	"relabel"
	"relabel/api"
)

// mix returns the requested mix of an export of a run, nil if there is none.
func (s *site) mix(ctx context.Context, b api.NewExport, run relabel.Run) (*relabel.Mix, error) {
	if b.Mix == nil {
		return nil, nil
	}
	if err := b.Mix.Check(b.ExportForm); err != nil {
		return nil, err
	}
	if run.Recipe.OnPolicy() {
		return nil, relabel.Errorf(relabel.CodeInvalid, "applies to labels of teachers; recipe %s gives weights to the student's own actions of one round", run.Recipe).On("mix")
	}
	m := &relabel.Mix{Weights: given(b.Mix.Weights), LabelsPerTask: b.Mix.LabelsPerTask, Unique: b.Mix.Unique, Sampled: b.Mix.Sampled}
	for i, of := range b.Mix.Sources {
		source, err := s.mixSource(ctx, of)
		if err != nil {
			return nil, below(fmt.Sprintf("mix.sources[%d].", i), err)
		}
		m.Sources = append(m.Sources, source)
	}
	return m, nil
}

func (s *site) mixSource(ctx context.Context, of api.NewMixSource) (source relabel.MixSource, err error) {
	run, err := s.findRun(ctx, of.Run)
	if err != nil {
		return source, asField(err, "run")
	}
	if run.Recipe.OnPolicy() {
		return source, relabel.Errorf(relabel.CodeInvalid, "is a run of recipe %s, whose rows are the student's own actions: a mix has labels of teachers", run.Recipe).On("run")
	}
	source.Weights = given(of.Weights)
	source.Selection, _, err = s.selection(ctx, of.LabelSelection, run)
	return source, err
}

// given returns the given weights, or those without a factor.
func given(w *relabel.LabelWeights) relabel.LabelWeights {
	if w == nil {
		return relabel.LabelWeights{}
	}
	return *w
}
