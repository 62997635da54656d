package cli

import (
	"context"
	"fmt"

	"relabel"
	"relabel/evaluation"
)

// reportCompare is `relabel report compare ITERATION WITH`.
type reportCompare struct {
	ClientFlags
	Iteration string `arg:"" help:"Id of an evaluation."`
	With      string `arg:"" help:"Id of another evaluation on the same benchmark, of any run."`
	Format    string `enum:"table,json,csv" default:"table" placeholder:"FORMAT" help:"table, json or csv."`
}

// Run prints the comparison.
func (c *reportCompare) Run(ctx context.Context) error {
	iteration, err := idOf("evaluation", "<iteration>", c.Iteration, "report run RUN")
	if err != nil {
		return err
	}
	with, err := idOf("evaluation", "<with>", c.With, "report run RUN")
	if err != nil {
		return err
	}
	return c.ClientFlags.With(ctx, func(cl *Session) error {
		comparison, err := cl.Compare(ctx, iteration, with)
		switch {
		case err != nil:
			return err
		case c.Format == "json":
			return printJSON(comparison)
		case c.Format == "csv":
			return printCSV(evaluation.ComparisonTable(comparison))
		}
		say("%s", comparedText(comparison))
		say("%s", differenceText(comparison))
		sayNotes(*comparison.Evaluation)
		sayNotes(*comparison.With)
		return printChanged(comparison.Changed)
	})
}

// comparedText says which evaluation is compared with which, on which benchmark.
func comparedText(c relabel.Comparison) string {
	of := func(r *relabel.Results) string {
		return fmt.Sprintf("%s, %s (%s)", r.Run, nameOfResults(*r), r.Student)
	}
	return fmt.Sprintf("%s minus %s on %s", of(c.Evaluation), of(c.With), benchmarkName(*c.Evaluation))
}

// printChanged prints the tasks that are better or worse, if there are any.
func printChanged(tasks []relabel.ChangedTask) error {
	if len(tasks) == 0 {
		return nil
	}
	t := newTable("INSTANCE", "RESOLVED", "RESOLVED IN THE OTHER")
	for _, c := range tasks {
		t.row(c.InstanceID, fmt.Sprintf("%d of %d", c.Resolved, c.Graded), fmt.Sprintf("%d of %d", c.WithResolved, c.WithGraded))
	}
	return t.print()
}
