package evaluation

import (
	"slices"

	"relabel"
)

// ScalingTable has a row for each point of a report, with a number in each cell.
func ScalingTable(report relabel.ScalingReport) (heads []string, rows [][]any) {
	heads = slices.Concat([]string{"run", "recipe", "effective_samples", "effective_labels", "student", "student_id", "evaluation_run", "iteration_id", "number",
		"tasks", "ungraded", "infrastructure"}, shareHeads("resolved"))
	for _, series := range report.Runs {
		for _, p := range series.Points {
			e := p.Evaluation
			rows = append(rows, slices.Concat([]any{series.Run, series.Recipe, &p.Effective.Trajectories, &p.Effective.States, e.Student, e.StudentID, e.Run, e.IterationID, e.Number,
				e.Tasks, e.Ungraded, e.Infrastructure}, shareCells(e.Resolved)))
		}
	}
	return heads, rows
}
