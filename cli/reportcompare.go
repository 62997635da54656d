package cli

import (
	"context"

	"relabel"
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
			heads := []string{"tasks", "ungraded", "better", "worse", "difference", "low", "high", "p"}
			return printCSV(heads, [][]any{{comparison.Tasks, comparison.Ungraded, comparison.Better, comparison.Worse, comparison.Difference, comparison.Low, comparison.High, comparison.P}})
		}
		say("%s", differenceText(comparison))
		return nil
	})
}
