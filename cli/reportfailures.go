package cli

import (
	"context"
	"fmt"

	"relabel"
	"relabel/failuremode"
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
			return printCSV(failuremode.Table(report, judges))
		}
		sayWhereScoresAre(run)
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
		return printCSV(failuremode.DisagreementTable(report))
	}
	return printDisagreements(report)
}

// printFailures prints one row for each proportion and one column for each iteration.
func printFailures(report relabel.FailureReport) error {
	heads := []string{"AMONG", "WHAT"}
	var rows [][]any
	for i, f := range report.Iterations {
		heads = append(heads, fmt.Sprintf("%s %d", f.Kind, f.Number))
		for k, part := range failuremode.Parts(f) {
			if i == 0 {
				rows = append(rows, []any{part.Among, part.What})
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
