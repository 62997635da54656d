package failuremode

import (
	"fmt"

	"relabel"
)

// Part is a proportion of an iteration with its denominator in words.
type Part struct {
	Among, What string
	relabel.Proportion
}

// Parts are the proportions of an iteration under their names, in the order of table 4.
func Parts(f relabel.IterationFailures) (parts []Part) {
	parts = []Part{{"all", "resolved", f.Resolved}, {"all", "submitted", f.Submitted}}
	for _, c := range f.Unresolved {
		parts = append(parts, Part{"submitted and unresolved", string(c.Mode), c.Proportion})
	}
	for _, c := range f.NoSubmission {
		parts = append(parts, Part{"no submission", string(c.Mode), c.Proportion})
	}
	return append(parts, Part{"unresolved", "tool_use_error", f.ToolUseError})
}

// JudgeNames are names of judges by id, as name@version.
type JudgeNames map[relabel.ID]string

// Of names a judge with its prompt.
func (n JudgeNames) Of(j relabel.JudgedFailures) string {
	gold := ""
	if !j.Gold {
		gold = ", without gold patches"
	}
	return fmt.Sprintf("%s, prompt %d (%.12s)%s", n[j.PolicyID], j.PromptVersion, j.Prompt, gold)
}

// JudgedPart is a mode of an iteration with its partition.
type JudgedPart struct {
	Of          relabel.JudgedIteration
	Among, What string
	relabel.JudgedCount
}

// JudgedParts are the modes that a judge gave, by iteration.
func JudgedParts(j relabel.JudgedFailures) (parts []JudgedPart) {
	for _, it := range j.Iterations {
		for _, c := range it.Unresolved {
			parts = append(parts, JudgedPart{it, "submitted and unresolved", string(c.Mode), c})
		}
		for _, c := range it.NoSubmission {
			parts = append(parts, JudgedPart{it, "no submission", string(c.Mode), c})
		}
		parts = append(parts, JudgedPart{it, "unresolved", "tool_use_error", it.ToolUseError})
	}
	return parts
}

// Table has a row for each iteration of a report and each proportion, then those of judges.
func Table(report relabel.FailureReport, judges JudgeNames) (heads []string, rows [][]any) {
	for _, f := range report.Iterations {
		for _, part := range Parts(f) {
			rows = append(rows, []any{f.Kind, f.Number, f.IterationID, part.Among, part.What, part.Count, part.Of, part.Share, part.Low, part.High, "", "computed", ""})
		}
	}
	rows = append(rows, judgeRows(report, judges)...)
	return []string{"kind", "iteration", "iteration_id", "among", "what", "count", "of", "share", "low", "high", "judge", "by", "kappa"}, rows
}

// judgeRows are the rows of judged modes: by iteration those that were computed, judged and final among the
// judged trajectories, then the agreement over all iterations.
func judgeRows(report relabel.FailureReport, names JudgeNames) (rows [][]any) {
	for _, j := range report.Judges {
		judge := names.Of(j)
		for _, part := range JudgedParts(j) {
			line := func(by string, p relabel.Proportion) []any {
				return []any{part.Of.Kind, part.Of.Number, part.Of.IterationID, part.Among, part.What, p.Count, p.Of, p.Share, p.Low, p.High, judge, by, ""}
			}
			rows = append(rows, line("computed", part.Computed), line("judged", part.Judged))
			if part.Final != nil {
				rows = append(rows, line("final", *part.Final))
			}
		}
		for _, a := range j.Agreements {
			e := a.Equal
			rows = append(rows, []any{"", "", "", a.Among, "equal", e.Count, e.Of, e.Share, e.Low, e.High, judge, "agreement", a.Kappa})
			for _, c := range a.Confusion {
				rows = append(rows, []any{"", "", "", a.Among, "computed " + c.Computed + ", judged " + c.Judged, c.Count, e.Of, "", "", "", judge, "confusion", ""})
			}
		}
	}
	return rows
}

// DisagreementPart are the student turns of a kind: all of them, or those with a tool or in a phase.
type DisagreementPart struct {
	By, What string
	relabel.Proportion
}

// DisagreementParts are the proportions of an iteration.
func DisagreementParts(d relabel.IterationDisagreements) (parts []DisagreementPart) {
	parts = []DisagreementPart{{"all", "all", d.Differ}}
	for _, of := range d.ByTool {
		parts = append(parts, DisagreementPart{"tool", of.Tool, of.Proportion})
	}
	for _, of := range d.ByPhase {
		parts = append(parts, DisagreementPart{"phase", string(of.Phase), of.Proportion})
	}
	return parts
}

// DisagreementTable has a row for each proportion, and one for each pair of phases and of tools, whose
// denominator and share are empty.
func DisagreementTable(report relabel.DisagreementReport) (heads []string, rows [][]any) {
	for _, d := range report.Iterations {
		for _, part := range DisagreementParts(d) {
			rows = append(rows, []any{d.Number, d.IterationID, string(d.LabelRule), part.By, part.What, "", part.Count, part.Of, part.Share, part.Low, part.High})
		}
		for _, pair := range d.Pairs {
			rows = append(rows, []any{d.Number, d.IterationID, string(d.LabelRule), "pair", pair.Student, pair.Teacher, pair.Turns, "", "", "", ""})
		}
		for _, pair := range d.ToolPairs {
			rows = append(rows, []any{d.Number, d.IterationID, string(d.LabelRule), "tool_pair", pair.Student, pair.Teacher, pair.Turns, "", "", "", ""})
		}
	}
	return []string{"iteration", "iteration_id", "label_rule", "by", "student", "teacher", "count", "of", "share", "low", "high"}, rows
}
