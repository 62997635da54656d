package schedule

import (
	"cmp"

	"relabel"
	"relabel/labelrule"
)

// checkLabelRule returns CodeInvalid for a rule that collection cannot follow.
func checkLabelRule(rule relabel.LabelRule) error {
	r, err := labelrule.Parse(rule, "label_rule")
	switch {
	case err != nil:
		return err
	case r.EndsRollouts():
		return relabel.Errorf(relabel.CodeInvalid, "%s ends rollouts before they submit anything: it can only be simulated (relabel run simulate-labels)", r).On("label_rule")
	}
	return nil
}

// checkRunRule returns CodeInvalid for a rule that the run's iterations cannot follow.
func checkRunRule(run relabel.Run) error {
	if run.Recipe.OnPolicy() && cmp.Or(run.LabelRule, relabel.LabelAll) != relabel.LabelAll {
		return relabel.Errorf(relabel.CodeInvalid, "is %s; an %s run has no labels: omit it", run.LabelRule, run.Recipe).On("label_rule")
	}
	return checkLabelRule(run.LabelRule)
}
