package schedule

import (
	"cmp"

	"relabel"
	"relabel/labelrule"
)

// checkLabelRule returns CodeInvalid for a rule that collection of a run with this recipe cannot follow.
func checkLabelRule(recipe relabel.Recipe, rule relabel.LabelRule) error {
	r, err := labelrule.Parse(rule, "label_rule")
	switch {
	case err != nil:
		return err
	case r.EndsRollouts() && recipe != relabel.AggreVaTe:
		return relabel.Errorf(relabel.CodeInvalid, "%s ends a rollout some turns after the teacher took over, which happens once in an aggrevate run; this run's recipe is %s", r, recipe).On("label_rule")
	}
	return nil
}

// checkRunRule returns CodeInvalid for a rule that the run's iterations cannot follow.
func checkRunRule(run relabel.Run) error {
	if err := checkHasChoice(run.Recipe, run.LabelRule); err != nil {
		return err
	}
	return checkLabelRule(run.Recipe, run.LabelRule)
}

// checkHasChoice returns CodeInvalid for a rule other than all in a run in which there are no states of
// the student with labels.
func checkHasChoice(recipe relabel.Recipe, rule relabel.LabelRule) error {
	switch {
	case cmp.Or(rule, relabel.LabelAll) == relabel.LabelAll:
		return nil
	case recipe.OnPolicy():
		return relabel.Errorf(relabel.CodeInvalid, "is %s; an %s run has no labels: omit it", rule, recipe).On("label_rule")
	case recipe == relabel.SFT:
		return relabel.Errorf(relabel.CodeInvalid, "is %s; in an sft run the teacher acts at every state, and its action is the label: omit it", rule).On("label_rule")
	}
	return nil
}
