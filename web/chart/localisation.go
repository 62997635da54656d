package chart

import (
	"fmt"

	"relabel"
)

// Localisation shows how iterations localise issues: valid submissions and successful tool calls (figure 4
// of ToolTrain), then figures of ranked functions and of ranked files.
func Localisation(report relabel.LocalisationReport) []Chart {
	calls := Chart{ID: "localise-calls", Title: "Tool calls and submissions", Note: "tool calls that did not fail, without those that end the search; trajectories with a valid submission; 95% intervals by task",
		Series: []Series{{Name: "successful tool calls", Look: "student"}, {Name: "valid submissions", Look: "dim"}}}
	functions := rankingChart("functions", "Ranked functions")
	files := rankingChart("files", "Ranked files")
	for _, of := range report.Iterations {
		calls.Series[0].add(of.Calls)
		calls.Series[1].add(of.Submitted)
		functions.addRanking(of.Functions)
		files.addRanking(of.Files)
	}
	charts := []Chart{calls, functions, files}
	for i := range charts {
		charts[i].X, charts[i].Unit = "iteration", "%"
		for _, of := range report.Iterations {
			charts[i].Labels = append(charts[i].Labels, fmt.Sprintf("%s %d", of.Kind, of.Number))
		}
	}
	return charts
}

func rankingChart(id, title string) Chart {
	return Chart{ID: "localise-" + id, Title: title, Note: "means over tasks, with 95% intervals by a bootstrap over tasks",
		Series: []Series{{Name: "nDCG@5", Look: "student"}, {Name: "Recall@5", Look: "passed"}, {Name: "MAP", Look: "ink"}}}
}

// addRanking adds a point of each line of a rankingChart; without a value if the figures are not defined.
func (c *Chart) addRanking(of *relabel.RankingFigures) {
	if of == nil {
		of = &relabel.RankingFigures{}
	}
	for i, mean := range []relabel.TaskMean{of.NDCG5, of.Recall5, of.MAP} {
		s, value := &c.Series[i], &mean.Mean
		if of.Tasks == 0 {
			value = nil
		}
		s.Values = append(s.Values, percent(value))
		s.Low = append(s.Low, percent(mean.Low))
		s.High = append(s.High, percent(mean.High))
	}
}
