package cli

import (
	"context"
	"fmt"

	"relabel"
	"relabel/api"
	"relabel/api/client"
	"relabel/labelrule"
)

// runSimulateLabels is `relabel run simulate-labels RUN`.
type runSimulateLabels struct {
	reportFlags
	api.LabelRuleQuery
}

// Run prints the figures of each rule by iteration and in total.
func (c *runSimulateLabels) Run(ctx context.Context) error {
	return c.withRun(ctx, func(cl *Session, run relabel.Run) error {
		answer, err := cl.SimulateLabels(ctx, run.ID, client.Values(c.LabelRuleQuery))
		switch {
		case err != nil:
			return err
		case c.Format == "json":
			return printJSON(answer)
		case c.Format == "csv":
			return printCSV(labelrule.Table(answer))
		}
		return printSimulation(answer)
	})
}

// printSimulation prints a table of what rules save and lose, one of their estimates, and the
// uncertainties if a rule depends on them.
func printSimulation(answer relabel.LabelSimulation) error {
	if len(answer.Rules) > 0 && answer.Rules[0].Total.Trajectories == 0 {
		say("No trajectory of a collect iteration is done yet.")
		return nil
	}
	t := newTable("RULE", "ITERATION", "STUDENT STATES", "SELECTED", "EXPECTED", "UNKNOWN", "CALLS SAVED", "TOKENS SAVED", "COST SAVED", "LABELS", "MISSING", "RECALL OF DIFFERENCES", "PRECISION")
	for _, p := range labelrule.Parts(answer) {
		t.row(p.Rule.Rule, p.Iteration, studentStates(p.SimulatedLabels), p.Selected, fmt.Sprintf("%.1f", p.Expected), p.Unknown,
			partOf(int64(p.Saved.Calls), int64(p.All.Calls)), partOf(p.Saved.Tokens, p.All.Tokens), costSaved(p.SimulatedLabels),
			partOf(int64(p.Labels.Kept), int64(p.Labels.All)), partOf(int64(p.MissingLabels.Kept), int64(p.MissingLabels.All)),
			proportionText(p.Recall), proportionText(p.Precision))
	}
	if err := t.print(); err != nil {
		return err
	}
	say("")
	say("The share of the student's states whose label differs, from the kept labels with their weights:")
	t = newTable("RULE", "ITERATION", "UNBIASED", "ALL LABELS", "ESTIMATE", "ERROR", "SUM OF WEIGHTS", "EFFECTIVE LABELS")
	for _, p := range labelrule.Parts(answer) {
		t.row(p.Rule.Rule, p.Iteration, unbiasedWord(p), meanOf(p.Rate), meanOf(p.Estimate), signed(p.Error), fmt.Sprintf("%.1f", p.Weight), fmt.Sprintf("%.1f", p.Effective))
	}
	if err := t.print(); err != nil {
		return err
	}
	say("ERROR is ESTIMATE minus ALL LABELS: of an unbiased rule the error of this draw, about 0 on average over seeds; of another rule its bias on these labels.")
	printLeftOut(answer)
	return printUncertainty(answer.Uncertainty)
}

// printLeftOut prints what the tables do not count, which is the same for all rules.
func printLeftOut(answer relabel.LabelSimulation) {
	if len(answer.Rules) == 0 {
		return
	}
	total := answer.Rules[0].Total
	if total.WithoutUsage > 0 {
		say("%d answers without a token count are in calls, but not in tokens and cost.", total.WithoutUsage)
	}
	if total.Cut > 0 {
		say("The rule teacher_turns ended %d of %d rollouts when they were collected: the states that would have followed are in no figure.", total.Cut, total.Trajectories)
	}
	if total.NotAsked > 0 {
		say("The run was collected with a label rule. At %d of the student's states the teacher was not asked: all figures, unbiased ones too, are of the other states only, without the weights of that rule.", total.NotAsked)
	}
}

// studentStates counts the states that the figures are of, and the others.
func studentStates(l relabel.SimulatedLabels) string {
	if l.NotAsked == 0 {
		return fmt.Sprint(l.StudentStates)
	}
	return fmt.Sprintf("%d (+%d not asked)", l.Asked(), l.NotAsked)
}

// unbiasedWord says whether a rule is unbiased, and about which states.
func unbiasedWord(p labelrule.Part) string {
	word := "no"
	if p.Rule.Unbiased {
		word = "yes"
	}
	if p.NotAsked > 0 {
		word += ", asked states"
	}
	return word
}

// printUncertainty prints the student's uncertainty, to choose a threshold.
func printUncertainty(all []relabel.UncertaintyQuantiles) error {
	if len(all) == 0 {
		return nil
	}
	say("")
	say("The student's uncertainty, in nats per token:")
	t := newTable("ITERATION", "STATES", "WITHOUT", "10%", "25%", "50%", "75%", "90%")
	for _, u := range all {
		cells := []any{u.Number, u.Known, u.Unknown}
		for _, q := range u.Quantiles {
			cells = append(cells, fmt.Sprintf("%.4g", q.Value))
		}
		t.row(cells...)
	}
	return t.print()
}

// partOf is a part of a whole with its share; a dash without a whole.
func partOf(part, whole int64) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d (%.1f%%)", part, whole, 100*float64(part)/float64(whole))
}

func costSaved(l relabel.SimulatedLabels) string {
	if l.All.Cost == nil || l.Saved.Cost == nil {
		return ""
	}
	return fmt.Sprintf("%.4g of %.4g", *l.Saved.Cost, *l.All.Cost)
}

// signed formats a difference of shares.
func signed(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%+.3f", *x)
}
