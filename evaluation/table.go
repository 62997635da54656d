package evaluation

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"

	"relabel"
)

// shareHeads are the heads of a share's columns: count, denominator, share, and its interval with the
// method.
func shareHeads(name string) []string {
	return []string{name, name + "_of", name + "_share", name + "_low", name + "_high", name + "_interval"}
}

func shareCells(p relabel.Proportion) []any {
	return []any{p.Count, p.Of, p.Share, p.Low, p.High, p.Interval}
}

// Table has a row for each evaluation of a report, then for each sample, with a number in each cell:
// results, pass@k with its tasks, and the comparison with the evaluation before on the same benchmark.
func Table(report relabel.EvaluationReport) (heads []string, rows [][]any) {
	heads = []string{"kind", "number", "iteration_id", "benchmark_id", "benchmark", "student", "generations", "tasks", "trained_tasks", "ungraded", "unverified", "infrastructure", "cancelled", "open"}
	heads = slices.Concat(heads, shareHeads("submitted"), shareHeads("resolved"))
	ks := PassKs(report)
	for _, k := range ks {
		heads = append(heads, fmt.Sprintf("pass_at_%d", k), fmt.Sprintf("pass_at_%d_tasks", k))
	}
	heads = append(heads, "compared_with_id", "compared_tasks", "compared_ungraded", "difference", "difference_low", "difference_high", "better", "worse", "mcnemar_p", "hinted", "hints_from", "excluded_tasks", "mean_reward")
	for _, r := range allResults(report) {
		rows = append(rows, slices.Concat(resultCells(r, ks), comparisonCells(report, r.IterationID), []any{r.Hinted, r.HintsFrom, r.ExcludedTasks, r.MeanReward}))
	}
	return heads, rows
}

// allResults are the evaluations of a report, then its samples.
func allResults(report relabel.EvaluationReport) []relabel.Results {
	return slices.Concat(report.Evaluations, report.Samples)
}

func resultCells(r relabel.Results, ks []int) []any {
	benchmark := ""
	if r.OnBenchmark() {
		benchmark = r.BenchmarkID.String()
	}
	cells := []any{r.Kind, r.Number, r.IterationID, benchmark, r.Benchmark, r.Student, r.Generations, r.Tasks, trainedTasks(r), r.Ungraded, r.Unverified, r.Infrastructure, r.Cancelled, r.Open}
	cells = slices.Concat(cells, shareCells(r.Submitted), shareCells(r.Resolved))
	for _, k := range ks {
		i := slices.IndexFunc(r.PassAtK, func(p relabel.PassAtK) bool { return p.K == k })
		if i < 0 {
			cells = append(cells, "", "")
			continue
		}
		cells = append(cells, r.PassAtK[i].Value, r.PassAtK[i].Tasks)
	}
	return cells
}

// trainedTasks is the number of tasks that are known to be in the student's training.
func trainedTasks(r relabel.Results) int {
	if r.Trained == nil {
		return 0
	}
	return r.Trained.Tasks
}

// comparisonCells are those of an iteration's comparison, empty without one.
func comparisonCells(report relabel.EvaluationReport, iteration relabel.ID) []any {
	for _, c := range report.Comparisons {
		if c.IterationID == iteration {
			return []any{c.WithID, c.Tasks, c.Ungraded, c.Difference, c.Low, c.High, c.Better, c.Worse, c.P}
		}
	}
	return []any{"", "", "", "", "", "", "", "", ""}
}

// PassKs are the k for which a report has pass@k, in order.
func PassKs(report relabel.EvaluationReport) (ks []int) {
	for _, r := range allResults(report) {
		for _, p := range r.PassAtK {
			ks = append(ks, p.K)
		}
	}
	slices.Sort(ks)
	return slices.Compact(ks)
}

// RepositoryTable has a row for each evaluation or sample and each of its repositories.
func RepositoryTable(report relabel.EvaluationReport) (heads []string, rows [][]any) {
	heads = slices.Concat([]string{"kind", "number", "iteration_id", "repository", "tasks", "ungraded"}, shareHeads("resolved"))
	for _, of := range allResults(report) {
		for _, r := range of.Repositories {
			rows = append(rows, slices.Concat([]any{of.Kind, of.Number, of.IterationID, r.Repository, r.Tasks, r.Ungraded}, shareCells(r.Resolved)))
		}
	}
	return heads, rows
}

// ComparisonTable has a row for a comparison.
func ComparisonTable(c relabel.Comparison) (heads []string, rows [][]any) {
	heads = []string{"iteration_id", "student", "trained_tasks", "with_id", "with_student", "with_trained_tasks", "tasks", "ungraded", "better", "worse", "difference", "low", "high", "p", "hinted", "hints_from", "with_hinted", "with_hints_from"}
	of, with := c.Evaluation, c.With
	return heads, [][]any{{c.IterationID, of.Student, trainedTasks(*of), c.WithID, with.Student, trainedTasks(*with), c.Tasks, c.Ungraded, c.Better, c.Worse, c.Difference, c.Low, c.High, c.P, of.Hinted, of.HintsFrom, with.Hinted, with.HintsFrom}}
}

// WriteCSV writes a table as CSV. Absent cells are empty. A text that a spreadsheet would take for a
// formula begins with an apostrophe.
func WriteCSV(to io.Writer, heads []string, rows [][]any) error {
	w := csv.NewWriter(to)
	lines := [][]string{heads}
	for _, row := range rows {
		line := make([]string, len(row))
		for i, cell := range row {
			line[i] = csvText(cell)
		}
		lines = append(lines, line)
	}
	return w.WriteAll(lines)
}

func csvText(cell any) string {
	if number, ok := cell.(*float64); ok {
		if number == nil {
			return ""
		}
		return fmt.Sprintf("%.10g", *number)
	}
	if cell == nil {
		return ""
	}
	if text, is := cell.(string); is && strings.IndexAny(text, "=+-@\t\r") == 0 {
		return "'" + text // spreadsheets would run a formula
	}
	return fmt.Sprint(cell)
}
