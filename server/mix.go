package server

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"relabel"
	"relabel/api"
)

// mix returns the requested mix of an export with the selection own of a run, nil if there is none.
func (s *site) mix(ctx context.Context, b api.NewExport, run relabel.Run, own relabel.ExportSelection) (*relabel.Mix, error) {
	if b.Mix == nil {
		return nil, nil
	}
	if err := b.Mix.Check(b.ExportForm); err != nil {
		return nil, err
	}
	if run.Recipe.OnPolicy() {
		return nil, relabel.Errorf(relabel.CodeInvalid, "applies to labels of teachers; recipe %s gives weights to the student's own actions of one round", run.Recipe).On("mix")
	}
	if err := checkSelected(given(b.Mix.Weights), own); err != nil {
		return nil, below("mix.", err)
	}
	m := &relabel.Mix{Weights: given(b.Mix.Weights), LabelsPerTask: b.Mix.LabelsPerTask, Unique: b.Mix.Unique, Sampled: b.Mix.Sampled}
	for i, of := range b.Mix.Sources {
		source, err := s.mixSource(ctx, of)
		if err != nil {
			return nil, below(fmt.Sprintf("mix.sources[%d].", i), err)
		}
		if err := checkOnce(m.Sources, source.Selection.Conversations); err != nil {
			return nil, below(fmt.Sprintf("mix.sources[%d].", i), err)
		}
		m.Sources = append(m.Sources, source)
	}
	return m, nil
}

func (s *site) mixSource(ctx context.Context, of api.NewMixSource) (source relabel.MixSource, err error) {
	source.Weights = given(of.Weights)
	if of.Conversations != "" {
		source.Selection, err = s.conversationSource(ctx, of)
		return source, err
	}
	if of.Run == "" {
		return source, relabel.Errorf(relabel.CodeInvalid, "is missing: give a run or conversations").On("run")
	}
	run, err := s.findRun(ctx, of.Run)
	if err != nil {
		return source, asField(err, "run")
	}
	if run.Recipe.OnPolicy() {
		return source, relabel.Errorf(relabel.CodeInvalid, "is a run of recipe %s, whose rows are the student's own actions: a mix has labels of teachers", run.Recipe).On("run")
	}
	source.Selection, _, err = s.selection(ctx, of.LabelSelection, run)
	if err != nil {
		return source, err
	}
	return source, checkSelected(source.Weights, source.Selection)
}

// checkOnce refuses a conversation set that an earlier source is: its rows would be there twice under the same names.
func checkOnce(earlier []relabel.MixSource, set *relabel.ConversationSet) error {
	same := func(s relabel.MixSource) bool {
		return set != nil && s.Selection.Conversations != nil && s.Selection.Conversations.ID == set.ID
	}
	if slices.ContainsFunc(earlier, same) {
		return relabel.Errorf(relabel.CodeInvalid, "%s is a source already: give it once, with one weight", set.Name).On("conversations")
	}
	return nil
}

// checkSelected refuses the weight of an iteration that is not selected: a mistyped number would silently weigh
// nothing.
func checkSelected(w relabel.LabelWeights, sel relabel.ExportSelection) error {
	for i, of := range w.Iterations {
		if of.Iteration == sel.Iteration || sel.Aggregated && of.Iteration < sel.Iteration {
			continue
		}
		return relabel.Errorf(relabel.CodeInvalid, "is not selected: the source has %s", sel.DescribeIterations()).
			On(fmt.Sprintf("weights.iterations[%d].iteration", i))
	}
	return nil
}

// conversationSource selects all conversations of a set.
func (s *site) conversationSource(ctx context.Context, of api.NewMixSource) (sel relabel.ExportSelection, err error) {
	weights, filters := given(of.Weights), of.LabelSelection
	if filters.Agreement == "any" {
		filters.Agreement = ""
	}
	switch {
	case of.Run != "":
		return sel, relabel.Errorf(relabel.CodeInvalid, "conflicts with conversations: give one of them").On("run")
	case !reflect.DeepEqual(filters, api.LabelSelection{}):
		return sel, relabel.Errorf(relabel.CodeInvalid, "takes no filters: conversations have no iterations, verdicts or reviews").On("conversations")
	case weights.Iterations != nil || weights.Betas != nil || weights.AgeDecay != nil:
		return sel, relabel.Errorf(relabel.CodeInvalid, "has only weight: conversations have no iterations").On("weights")
	}
	set, err := s.Store.FindConversationSet(ctx, of.Conversations)
	if err != nil {
		return sel, asField(err, "conversations")
	}
	return relabel.ExportSelection{Conversations: &set}, nil
}

// given returns the given weights, or those without a factor.
func given(w *relabel.LabelWeights) relabel.LabelWeights {
	if w == nil {
		return relabel.LabelWeights{}
	}
	return *w
}
