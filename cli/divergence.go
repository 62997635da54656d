package cli

import (
	"cmp"
	"context"
	"fmt"

	"relabel"
	"relabel/api"
	"relabel/evaluation"
)

// reportDivergence is `relabel report divergence RUN…`.
type reportDivergence struct {
	ClientFlags
	api.DivergenceQuery
	ByTool bool   `help:"Show the agreement with the first label by the student's tool instead."`
	Format string `enum:"table,json,csv" default:"table" placeholder:"FORMAT" help:"table, json or csv."`
}

// Run prints the comparison by iteration, or the agreement by tool.
func (c *reportDivergence) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		report, err := cl.Divergence(ctx, c.DivergenceQuery)
		switch {
		case err != nil:
			return err
		case c.Format == "json":
			return printJSON(report)
		case c.Format == "csv" && c.ByTool:
			return printCSV(evaluation.DivergenceTools(report))
		case c.Format == "csv":
			return printCSV(evaluation.DivergenceTable(report))
		case c.ByTool:
			return toolTable(report).print()
		}
		return printDivergence(report)
	})
}

func printDivergence(report relabel.DivergenceReport) error {
	if err := divergenceTable(report).print(); err != nil {
		return err
	}
	say("reverse KL divergence in nats per token with 95%% intervals; --by-tool shows the agreement by tool")
	for _, run := range report.Runs {
		say("%s: students compared with %s", run.Run, run.Teacher)
	}
	return nil
}

func divergenceTable(report relabel.DivergenceReport) *table {
	t := newTable("RUN", "ITERATION", "BENCHMARK", "STUDENT", "TRAJECTORIES", "TURNS", "UNSCORED", "TOKENS", "K3", "K3 BY TRAJECTORY", "K1", "TOP-K BOUND", "AGREED")
	for _, run := range report.Runs {
		for _, d := range run.Items {
			t.row(divergenceRow(run.Run, d)...)
		}
	}
	return t
}

func divergenceRow(run string, d relabel.Divergence) []any {
	benchmark, k3, k3Mean, k1, agreed := "", "", "", "", ""
	if d.BenchmarkID != nil {
		benchmark = cmp.Or(d.Benchmark, d.BenchmarkID.String())
	}
	if d.ByToken != nil {
		k3, k1 = meanText(&d.ByToken.K3), meanText(&d.ByToken.K1)
	}
	if d.ByTrajectory != nil {
		k3Mean = meanText(&d.ByTrajectory.K3)
	}
	if d.Greedy && d.Tokens > 0 {
		k3, k3Mean, k1 = "greedy", "greedy", "greedy"
	}
	if d.Agreement != nil && d.Agreement.Compared > 0 {
		agreed = fmt.Sprintf("%d of %d", d.Agreement.Agreed, d.Agreement.Compared)
		if rule := d.Agreement.LabelRule; rule.Selects() {
			agreed += fmt.Sprintf(", asked by %s", rule)
		}
	}
	return []any{run, fmt.Sprintf("%s %d", d.Kind, d.Number), benchmark, d.Student, d.Trajectories, d.Turns, d.Unscored, d.Tokens, k3, k3Mean, k1, meanText(d.Top), agreed}
}

// meanText is a mean with its interval, if that is known.
func meanText(m *relabel.Mean) string {
	switch {
	case m == nil:
		return ""
	case m.Low == nil || m.High == nil:
		return fmt.Sprintf("%.4f", m.Mean)
	}
	return fmt.Sprintf("%.4f [%.4f, %.4f]", m.Mean, *m.Low, *m.High)
}

// toolTable has how often students call what the label calls, by the student's tool.
func toolTable(report relabel.DivergenceReport) *table {
	t := newTable("RUN", "ITERATION", "STUDENT'S TOOL", "COMPARED", "AGREED", "SHARE")
	for _, run := range report.Runs {
		for _, d := range run.Items {
			if d.Agreement == nil {
				continue
			}
			for _, tool := range d.Agreement.Tools {
				t.row(run.Run, fmt.Sprintf("%s %d", d.Kind, d.Number), tool.Name(), tool.Compared, tool.Agreed, share(tool.Agreed, tool.Compared))
			}
		}
	}
	return t
}
