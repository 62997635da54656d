package cli

import (
	"context"
	"fmt"

	"relabel"
)

// reportRun is `relabel report run RUN`.
type reportRun struct {
	reportFlags
	ByRepository bool `help:"Print the results by repository instead."`
}

// Run prints the evaluations and their comparisons.
func (c *reportRun) Run(ctx context.Context) error {
	return c.withRun(ctx, func(cl *Session, run relabel.Run) error {
		report, err := cl.Evaluations(ctx, run.ID)
		switch {
		case err != nil:
			return err
		case c.Format == "json":
			return printJSON(report)
		}
		heads, rows := evaluationRows(report, c.Format == "csv")
		if c.ByRepository {
			heads, rows = repositoryRows(report, c.Format == "csv")
		}
		if c.Format == "csv" {
			return printCSV(heads, rows)
		}
		if err := printTable(rows, heads, func(row []any) []any { return row }); err != nil {
			return err
		}
		say("shares of the graded trajectories with 95%% intervals; a trajectory without a valid submission is not resolved")
		for _, comparison := range report.Comparisons {
			say("%s", comparisonText(report, comparison))
		}
		return nil
	})
}

// proportionCells are one cell in a table, and one for each number in CSV.
func proportionCells(p relabel.Proportion, csv bool) []any {
	if csv {
		return []any{p.Count, p.Of, p.Share, p.Low, p.High}
	}
	return []any{proportionText(p)}
}

// proportionHeads are the heads of proportionCells.
func proportionHeads(name string, csv bool) []string {
	if csv {
		return []string{name, name + "_of", name + "_share", name + "_low", name + "_high"}
	}
	return []string{name}
}

func evaluationRows(report relabel.EvaluationReport, csv bool) (heads []string, rows [][]any) {
	heads = []string{"evaluation", "iteration_id", "benchmark", "student", "tasks", "ungraded", "infrastructure", "cancelled", "open"}
	heads = append(append(heads, proportionHeads("submitted", csv)...), proportionHeads("resolved", csv)...)
	for _, e := range report.Evaluations {
		row := []any{e.Number, e.IterationID, benchmarkName(e), e.Student, e.Tasks, e.Ungraded, e.Infrastructure, e.Cancelled, e.Open}
		rows = append(rows, append(append(row, proportionCells(e.Submitted, csv)...), proportionCells(e.Resolved, csv)...))
	}
	return heads, rows
}

func repositoryRows(report relabel.EvaluationReport, csv bool) (heads []string, rows [][]any) {
	heads = append([]string{"evaluation", "repository", "tasks", "ungraded"}, proportionHeads("resolved", csv)...)
	for _, e := range report.Evaluations {
		for _, r := range e.Repositories {
			rows = append(rows, append([]any{e.Number, r.Repository, r.Tasks, r.Ungraded}, proportionCells(r.Resolved, csv)...))
		}
	}
	return heads, rows
}

// benchmarkName is the benchmark's name, or its id if it has none.
func benchmarkName(e relabel.Evaluation) string {
	if e.Benchmark == "" {
		return e.BenchmarkID.String()
	}
	return e.Benchmark
}

func comparisonText(report relabel.EvaluationReport, c relabel.Comparison) string {
	number := map[relabel.ID]int{}
	for _, e := range report.Evaluations {
		number[e.IterationID] = e.Number
	}
	return fmt.Sprintf("evaluation %d against %d: %s", number[c.IterationID], number[c.WithID], differenceText(c))
}

// differenceText describes a comparison.
func differenceText(c relabel.Comparison) string {
	if c.Difference == nil {
		return fmt.Sprintf("no task is graded in both (%d tasks)", c.Ungraded)
	}
	text := fmt.Sprintf("%+.1f points [%+.1f, %+.1f] over %d tasks, better at %d, worse at %d", 100**c.Difference, 100**c.Low, 100**c.High, c.Tasks, c.Better, c.Worse)
	if c.P != nil {
		text += fmt.Sprintf(", exact McNemar p = %.3g", *c.P)
	}
	if c.Ungraded > 0 {
		text += fmt.Sprintf("; %d tasks are not graded in both", c.Ungraded)
	}
	return text
}
