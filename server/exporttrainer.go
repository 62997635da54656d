package server

import (
	"context"

	"relabel"
	"relabel/labelrule"
	"relabel/trainers"
)

// checkTrainer refuses a trainer that would ignore the weights of labels that a rule of a selected iteration gives.
func (s *site) checkTrainer(ctx context.Context, e relabel.Export) error {
	if e.Form.For == "" {
		return nil
	}
	for n := range e.Sources() {
		selection := e.Source(n).Selection
		its, err := s.Store.ListIterations(ctx, selection.RunID)
		if err != nil {
			return err
		}
		for _, it := range its {
			selected := it.Number == selection.Iteration || selection.Aggregated && it.Number < selection.Iteration
			if it.Kind != relabel.Collect || !selected || !weighs(it.LabelRule) {
				continue
			}
			if err := trainers.CheckWeights(e.Form, relabel.DAgger, "the label rule of an iteration gives weights other than 1"); err != nil {
				return err
			}
		}
	}
	return nil
}

// weighs reports whether labels by a rule may weigh other than 1.
func weighs(text relabel.LabelRule) bool {
	rule, err := labelrule.Parse(text, "label_rule")
	return err == nil && text != "" && text != relabel.LabelAll && rule.Unbiased()
}
