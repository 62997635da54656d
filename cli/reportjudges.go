package cli

import (
	"context"
	"fmt"

	"relabel"
)

// judgeNames are names of judges by id, as name@version.
type judgeNames map[relabel.ID]string

func findJudges(ctx context.Context, cl *Session, report relabel.FailureReport) (judgeNames, error) {
	names := judgeNames{}
	for _, j := range report.Judges {
		p, err := FindPolicy(ctx, cl, j.PolicyID.String())
		if err != nil {
			return nil, err
		}
		names[j.PolicyID] = fmt.Sprintf("%s@%d", p.Name, p.Version)
	}
	return names, nil
}

// of names a judge with its prompt.
func (n judgeNames) of(j relabel.JudgedFailures) string {
	gold := ""
	if !j.Gold {
		gold = ", without gold patches"
	}
	return fmt.Sprintf("%s, prompt %d (%.12s)%s", n[j.PolicyID], j.PromptVersion, j.Prompt, gold)
}

// printJudges prints, for each judge and prompt, the judged modes beside the computed ones and their
// agreement.
func printJudges(report relabel.FailureReport, names judgeNames) error {
	for _, j := range report.Judges {
		say("")
		say("judged by %s", names.of(j))
		for _, it := range j.Iterations {
			say("%s %d: %d judged, %d invalid, %d missing; %d turns hidden, %d texts shortened", it.Kind, it.Number, it.Judged, it.Invalid, it.Missing, it.HiddenTurns, it.ShortenedTexts)
		}
		var rows [][]any
		for _, part := range judgedParts(j) {
			rows = append(rows, []any{part.iteration(), part.among, part.what, proportionText(part.Computed), proportionText(part.Judged), finalText(part.Final)})
		}
		if err := printTable(rows, []string{"ITERATION", "AMONG", "WHAT", "COMPUTED", "JUDGED", "FINAL"}, func(row []any) []any { return row }); err != nil {
			return err
		}
		for _, a := range j.Agreements {
			say("agreement, %s: %s, kappa %s", a.Among, proportionText(a.Equal), kappaText(a.Kappa))
			for _, c := range a.Confusion {
				say("  computed %s, judged %s: %d", c.Computed, c.Judged, c.Count)
			}
		}
	}
	return nil
}

func finalText(p *relabel.Proportion) string {
	if p == nil {
		return ""
	}
	return proportionText(*p)
}

func kappaText(kappa *float64) string {
	if kappa == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f", *kappa)
}

// judgedPart is a mode of an iteration with its partition.
type judgedPart struct {
	of          relabel.JudgedIteration
	among, what string
	relabel.JudgedCount
}

func (p judgedPart) iteration() string { return fmt.Sprintf("%s %d", p.of.Kind, p.of.Number) }

// judgedParts are the modes that a judge gave, by iteration.
func judgedParts(j relabel.JudgedFailures) (parts []judgedPart) {
	for _, it := range j.Iterations {
		for _, c := range it.Unresolved {
			parts = append(parts, judgedPart{it, "submitted and unresolved", string(c.Mode), c})
		}
		for _, c := range it.NoSubmission {
			parts = append(parts, judgedPart{it, "no submission", string(c.Mode), c})
		}
		parts = append(parts, judgedPart{it, "unresolved", "tool_use_error", it.ToolUseError})
	}
	return parts
}

// judgeRows are the lines of a CSV of judged modes, in the columns of printFailureRows: by iteration those
// that were computed, judged and final among the judged trajectories, then the agreement over all iterations.
func judgeRows(report relabel.FailureReport, names judgeNames) (rows [][]any) {
	for _, j := range report.Judges {
		judge := names.of(j)
		for _, part := range judgedParts(j) {
			line := func(by string, p relabel.Proportion) []any {
				return []any{part.of.Kind, part.of.Number, part.of.IterationID, part.among, part.what, p.Count, p.Of, p.Share, p.Low, p.High, judge, by, ""}
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
