package evaluation

import (
	"slices"
	"strings"

	"relabel"
)

// LocalisationTable has a row for each iteration of a report, then one for each language of its gold
// files, with a number in each cell, from 0 to 1; and the comparison of the iteration, if it has one.
func LocalisationTable(report relabel.LocalisationReport) (heads []string, rows [][]any) {
	heads = slices.Concat([]string{"kind", "number", "iteration_id", "benchmark_id", "benchmark", "student", "language", "tasks", "rollouts", "ungraded", "open"},
		shareHeads("submitted"), shareHeads("calls"), taskMeanHeads("turns"), localisationHeads(""), []string{"compared_with_id", "compared_tasks"}, localisationHeads("difference_"), []string{"excluded_tasks"})
	for _, of := range report.Iterations {
		row := localisationCells(of, "all", of.LocalisationFigures, of.Ungraded, of.Open)
		rows = append(rows, slices.Concat(row, localisationComparisonCells(report, of.IterationID), []any{of.ExcludedTasks}))
		for _, language := range of.Languages {
			row := localisationCells(of, language.Language, language.LocalisationFigures, "", "")
			rows = append(rows, slices.Concat(row, localisationComparisonCells(report, relabel.ID{}), []any{""}))
		}
	}
	return heads, rows
}

func taskMeanHeads(name string) []string { return []string{name, name + "_low", name + "_high"} }

// taskMeanCells are a mean and the ends of its interval, empty if unknown.
func taskMeanCells(m *relabel.TaskMean) []any {
	if m == nil {
		return []any{"", "", ""}
	}
	return []any{&m.Mean, m.Low, m.High}
}

// localisationHeads are the heads of the figures of a report or, with a prefix, of a comparison.
func localisationHeads(prefix string) []string {
	heads := taskMeanHeads(prefix + "score")
	for _, level := range []string{"files", "functions"} {
		heads = append(heads, prefix+level+"_tasks")
		for _, name := range relabel.RankingNames {
			name = strings.ReplaceAll(strings.ToLower(name), "@", "_at_")
			heads = append(heads, taskMeanHeads(prefix+level+"_"+name)...)
		}
	}
	return heads
}

func localisationCells(of relabel.IterationLocalisation, language string, f relabel.LocalisationFigures, ungraded, open any) []any {
	cells := []any{of.Kind, of.Number, of.IterationID, optional(of.BenchmarkID), of.Benchmark, of.Student, language, f.Tasks, f.Rollouts, ungraded, open}
	return slices.Concat(cells, shareCells(f.Submitted), shareCells(f.Calls), taskMeanCells(f.Turns), rankingCells(f.Score, f.Files, f.Functions))
}

// rankingCells are those of localisationHeads.
func rankingCells(score *relabel.TaskMean, levels ...*relabel.RankingFigures) []any {
	cells := taskMeanCells(score)
	for _, of := range levels {
		if of == nil {
			cells = append(cells, emptyRow(1+3*len(relabel.RankingNames), nil)...)
			continue
		}
		cells = append(cells, of.Tasks)
		for _, mean := range of.Means() {
			cells = append(cells, taskMeanCells(mean)...)
		}
	}
	return cells
}

// localisationComparisonCells are those of an iteration's comparison, empty without one.
func localisationComparisonCells(report relabel.LocalisationReport, iteration relabel.ID) []any {
	for _, c := range report.Comparisons {
		if c.IterationID == iteration {
			return slices.Concat([]any{c.WithID, c.Tasks}, rankingCells(c.Score, c.Files, c.Functions))
		}
	}
	return slices.Concat([]any{"", ""}, rankingCells(nil, nil, nil))
}
