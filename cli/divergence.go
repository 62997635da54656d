package cli

import (
	"context"
	"fmt"

	"relabel"
	"relabel/api"
	"relabel/api/client"
)

// reportDivergence is `relabel report divergence RUN`.
type reportDivergence struct {
	reportFlags
	api.DivergenceQuery
}

// Run prints the comparison by iteration, then agreement by tool.
func (c *reportDivergence) Run(ctx context.Context) error {
	return c.withRun(ctx, func(cl *Session, run relabel.Run) error {
		answer, err := cl.Divergences(ctx, run.ID, client.Values(c.DivergenceQuery))
		switch {
		case err != nil:
			return err
		case c.Format == "json":
			return printJSON(answer)
		}
		var rows [][]any
		for _, d := range answer.Items {
			rows = append(rows, divergenceRow(d))
		}
		if c.Format == "csv" {
			return printCSV(divergenceHeads, rows)
		}
		if err := printTable(rows, divergenceHeads, func(row []any) []any { return row }); err != nil {
			return err
		}
		return printTools(answer.Items)
	})
}

// divergenceHeads name the columns of divergenceRow. The divergence is in nats per token; low and high are
// the ends of a 95% interval.
var divergenceHeads = []string{"kind", "iteration", "trajectories", "turns", "unscored", "tokens", "impossible",
	"k3", "k3_low", "k3_high", "k1", "k1_low", "k1_high",
	"k3_by_trajectory", "k3_by_trajectory_low", "k3_by_trajectory_high",
	"top", "top_low", "top_high", "compared", "agreed"}

func divergenceRow(d relabel.Divergence) []any {
	row := []any{d.Kind, d.Number, d.Trajectories, d.Turns, d.Unscored, d.Tokens, d.Impossible}
	var k3, k1, byTrajectory *relabel.Mean
	if d.ByToken != nil {
		k3, k1 = &d.ByToken.K3, &d.ByToken.K1
	}
	if d.ByTrajectory != nil {
		byTrajectory = &d.ByTrajectory.K3
	}
	for _, m := range []*relabel.Mean{k3, k1, byTrajectory, d.Top} {
		row = append(row, meanCells(m)...)
	}
	return append(row, d.Compared, d.Agreed)
}

// meanCells are a mean and its interval; "" for what is not known.
func meanCells(m *relabel.Mean) []any {
	if m == nil {
		return []any{"", "", ""}
	}
	cells := []any{fmt.Sprintf("%.6g", m.Mean), "", ""}
	if m.Low != nil && m.High != nil {
		cells[1], cells[2] = fmt.Sprintf("%.6g", *m.Low), fmt.Sprintf("%.6g", *m.High)
	}
	return cells
}

// printTools prints how often students call what the label calls, by the student's tool.
func printTools(all []relabel.Divergence) error {
	t := newTable("ITERATION", "STUDENT'S TOOL", "COMPARED", "AGREED", "SHARE")
	some := false
	for _, d := range all {
		for _, tool := range d.Tools {
			name := tool.Tool
			switch {
			case tool.Rest:
				name = "rare tools"
			case name == "":
				name = "no call"
			}
			t.row(fmt.Sprintf("%s %d", d.Kind, d.Number), name, tool.Compared, tool.Agreed, share(tool.Agreed, tool.Compared))
			some = true
		}
	}
	if !some {
		return nil
	}
	fmt.Println("\nActions equal to the first label, by tool:")
	return t.print()
}
