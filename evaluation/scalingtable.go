package evaluation

import (
	"slices"

	"relabel"
)

// ScalingTable has a row for each point of a report, with a number in each cell; then one for each
// evaluation on the benchmark that is no point, with the reason; then one for each other benchmark, with
// the number of its evaluations.
func ScalingTable(report relabel.ScalingReport) (heads []string, rows [][]any) {
	heads = slices.Concat([]string{"run", "recipe", "benchmark_id", "benchmark", "effective_samples", "effective_labels", "student", "student_id", "evaluation_run", "iteration_id", "number",
		"tasks", "trained_tasks", "ungraded", "infrastructure"}, shareHeads("resolved"), []string{"excluded_tasks", "excluded", "unknown", "other_evaluations"})
	for _, series := range report.Runs {
		for _, p := range series.Points {
			e := p.Evaluation
			rows = append(rows, slices.Concat([]any{series.Run, series.Recipe, e.BenchmarkID, e.Benchmark, &p.Effective.Trajectories, &p.Effective.States, e.Student, e.StudentID, e.Run, e.IterationID, e.Number,
				e.Tasks, trainedTasks(e), e.Ungraded, e.Infrastructure}, shareCells(e.Resolved), []any{e.ExcludedTasks, "", "", ""}))
		}
	}
	for _, x := range report.Excluded {
		row := emptyRow(len(heads), map[int]any{0: x.Run, 2: optional(report.BenchmarkID), 3: report.Benchmark, 6: x.Student, 7: x.StudentID, 8: x.Run, 9: x.IterationID, 10: x.Number})
		row[len(heads)-3], row[len(heads)-2] = x.Reason, x.Unknown
		rows = append(rows, row)
	}
	for _, b := range report.OtherBenchmarks {
		rows = append(rows, emptyRow(len(heads), map[int]any{2: b.BenchmarkID, 3: b.Benchmark, len(heads) - 1: b.Evaluations}))
	}
	return heads, rows
}

// emptyRow has n cells, empty but for those that are given.
func emptyRow(n int, cells map[int]any) []any {
	row := make([]any, n)
	for i, cell := range cells {
		row[i] = cell
	}
	return row
}
