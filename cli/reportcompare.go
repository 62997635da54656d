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
	Iteration relabel.ID `arg:"" help:"Id of an evaluation."`
	With      relabel.ID `arg:"" help:"Id of another evaluation on the same benchmark, of any run."`
	Format    string     `enum:"table,json,csv" default:"table" placeholder:"FORMAT" help:"table, json or csv."`
}

// Run prints the comparison.
func (c *reportCompare) Run(ctx context.Context) error {
	return c.ClientFlags.With(ctx, func(cl *Session) error {
		comparison, err := cl.Compare(ctx, c.Iteration, c.With)
		switch {
		case err != nil:
			return err
		case c.Format == "json":
			return printJSON(comparison)
		case c.Format == "csv":
			return printCSV(evaluation.ComparisonTable(comparison))
		}
		say("%s", differenceText(comparison))
		return printChanged(comparison.Changed)
	})
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
