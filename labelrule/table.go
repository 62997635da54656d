package labelrule

import (
	"fmt"

	"relabel"
)

// Part are the figures of a rule in an iteration, or in all of them.
type Part struct {
	Rule      relabel.SimulatedRule
	Iteration string // its number, or all
	relabel.SimulatedLabels
}

// Parts are the figures of each rule by iteration, then in all.
func Parts(of relabel.LabelSimulation) (parts []Part) {
	for _, rule := range of.Rules {
		for _, it := range rule.Iterations {
			parts = append(parts, Part{rule, fmt.Sprint(it.Number), it.SimulatedLabels})
		}
		parts = append(parts, Part{rule, "all", rule.Total})
	}
	return parts
}

// Table has a row for each part, with a number in each cell. The iteration of a rule's total is empty.
func Table(of relabel.LabelSimulation) (heads []string, rows [][]any) {
	heads = []string{"rule", "unbiased", "iteration", "trajectories", "teacher_states", "student_states", "not_asked", "selected", "expected", "unknown",
		"calls", "calls_saved", "tokens", "tokens_saved", "cost", "cost_saved", "without_usage", "labels", "labels_kept", "missing", "missing_kept",
		"differ", "differ_kept", "recall", "recall_low", "recall_high", "selected_compared", "precision", "precision_low", "precision_high",
		"rate", "estimate", "error", "weight", "effective"}
	for _, p := range Parts(of) {
		iteration := p.Iteration
		if iteration == "all" {
			iteration = ""
		}
		rows = append(rows, []any{p.Rule.Rule, p.Rule.Unbiased, iteration, p.Trajectories, p.TeacherStates, p.StudentStates, p.NotAsked, p.Selected, &p.Expected, p.Unknown,
			p.All.Calls, p.Saved.Calls, p.All.Tokens, p.Saved.Tokens, p.All.Cost, p.Saved.Cost, p.WithoutUsage, p.Labels.All, p.Labels.Kept, p.MissingLabels.All, p.MissingLabels.Kept,
			p.Recall.Of, p.Recall.Count, p.Recall.Share, p.Recall.Low, p.Recall.High, p.Precision.Of, p.Precision.Share, p.Precision.Low, p.Precision.High,
			p.Rate, p.Estimate, p.Error, &p.Weight, &p.Effective})
	}
	return heads, rows
}
