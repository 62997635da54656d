package cli

import (
	"context"
	"fmt"

	"relabel"
)

// reportFailures is `relabel report failures RUN`.
type reportFailures struct {
	reportFlags
	Disagreements bool `help:"Show where student and teacher differ in collect iterations instead: by tool and by phase."`
}

// Run prints the report.
func (c *reportFailures) Run(ctx context.Context) error {
	return c.withRun(ctx, func(cl *Session, run relabel.Run) error {
		if c.Disagreements {
			return c.disagreements(ctx, cl, run)
		}
		report, err := cl.Failures(ctx, run.ID)
		if err != nil {
			return err
		}
		if c.Format == "json" {
			return printJSON(report)
		}
		judges, err := findJudges(ctx, cl, report)
		switch {
		case err != nil:
			return err
		case c.Format == "csv":
			return printFailureRows(report, judges)
		}
		if err := printFailures(report); err != nil {
			return err
		}
		return printJudges(report, judges)
	})
}

func (c *reportFailures) disagreements(ctx context.Context, cl *Session, run relabel.Run) error {
	report, err := cl.Disagreements(ctx, run.ID)
	if err != nil {
		return err
	}
	switch c.Format {
	case "json":
		return printJSON(report)
	case "csv":
		return printDisagreementRows(report)
	}
	return printDisagreements(report)
}

// failureParts are the proportions of an iteration under their names, in the order of table 4.
func failureParts(f relabel.IterationFailures) (parts []failurePart) {
	parts = []failurePart{{"all", "resolved", f.Resolved}, {"all", "submitted", f.Submitted}}
	for _, c := range f.Unresolved {
		parts = append(parts, failurePart{"submitted and unresolved", string(c.Mode), c.Proportion})
	}
	for _, c := range f.NoSubmission {
		parts = append(parts, failurePart{"no submission", string(c.Mode), c.Proportion})
	}
	return append(parts, failurePart{"unresolved", "tool_use_error", f.ToolUseError})
}

// failurePart is a proportion with its denominator in words.
type failurePart struct {
	among, what string
	relabel.Proportion
}

// printFailures prints one row for each proportion and one column for each iteration.
func printFailures(report relabel.FailureReport) error {
	heads := []string{"AMONG", "WHAT"}
	var rows [][]any
	for i, f := range report.Iterations {
		heads = append(heads, fmt.Sprintf("%s %d", f.Kind, f.Number))
		for k, part := range failureParts(f) {
			if i == 0 {
				rows = append(rows, []any{part.among, part.what})
			}
			rows[k] = append(rows[k], proportionText(part.Proportion))
		}
	}
	if err := printTable(rows, heads, func(row []any) []any { return row }); err != nil {
		return err
	}
	say("count of denominator, share and its 95%% interval; rules of version %d", report.Rules)
	for _, f := range report.Iterations {
		if f.Cut > 0 {
			say("%s %d: %d trajectories that the label rule ended are in no share", f.Kind, f.Number, f.Cut)
		}
		if f.Unverified+f.Unclassified > 0 {
			say("%s %d: %d submissions without a verdict, %d trajectories without a computed mode", f.Kind, f.Number, f.Unverified, f.Unclassified)
		}
	}
	return nil
}

func proportionText(p relabel.Proportion) string {
	if p.Share == nil {
		return "0 of 0"
	}
	return fmt.Sprintf("%d of %d, %.1f%% [%.1f, %.1f]", p.Count, p.Of, 100**p.Share, 100**p.Low, 100**p.High)
}

// printFailureRows prints one line for each iteration and proportion, then those of judges.
func printFailureRows(report relabel.FailureReport, judges judgeNames) error {
	var rows [][]any
	for _, f := range report.Iterations {
		for _, part := range failureParts(f) {
			rows = append(rows, []any{f.Kind, f.Number, f.IterationID, part.among, part.what, part.Count, part.Of, part.Share, part.Low, part.High, "", "computed", ""})
		}
	}
	rows = append(rows, judgeRows(report, judges)...)
	return printCSV([]string{"kind", "iteration", "iteration_id", "among", "what", "count", "of", "share", "low", "high", "judge", "by", "kappa"}, rows)
}
