package cli

import (
	"context"
	"fmt"

	"relabel"
	"relabel/failuremode"
)

func findJudges(ctx context.Context, cl *Session, report relabel.FailureReport) (failuremode.JudgeNames, error) {
	names := failuremode.JudgeNames{}
	for _, j := range report.Judges {
		p, err := FindPolicy(ctx, cl, j.PolicyID.String())
		if err != nil {
			return nil, err
		}
		names[j.PolicyID] = fmt.Sprintf("%s@%d", p.Name, p.Version)
	}
	return names, nil
}

// printJudges prints, for each judge and prompt, the judged modes beside the computed ones and their
// agreement.
func printJudges(report relabel.FailureReport, names failuremode.JudgeNames) error {
	for _, j := range report.Judges {
		say("")
		say("judged by %s", names.Of(j))
		for _, it := range j.Iterations {
			say("%s %d: %d judged, %d invalid, %d missing; %d turns hidden, %d texts shortened", it.Kind, it.Number, it.Judged, it.Invalid, it.Missing, it.HiddenTurns, it.ShortenedTexts)
		}
		var rows [][]any
		for _, part := range failuremode.JudgedParts(j) {
			rows = append(rows, []any{fmt.Sprintf("%s %d", part.Of.Kind, part.Of.Number), part.Among, part.What, proportionText(part.Computed), proportionText(part.Judged), finalText(part.Final)})
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
