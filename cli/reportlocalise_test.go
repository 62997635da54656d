package cli

import (
	"fmt"
	"strings"
	"testing"

	"relabel"
)

// localising is a report of two iterations, of which the later one is compared with the earlier.
func localising() relabel.LocalisationReport {
	figures := func(mean float64) *relabel.RankingFigures {
		f := relabel.RankingFigures{Tasks: 2}
		for _, to := range f.Means() {
			*to = relabel.TaskMean{Mean: mean, Low: new(mean - 0.25), High: new(mean + 0.25)}
		}
		return &f
	}
	of := relabel.LocalisationFigures{Tasks: 3, Rollouts: 6, Calls: relabel.Proportion{Count: 19, Of: 20, Share: new(0.95), Low: new(0.8), High: new(0.99)},
		Turns: &relabel.TaskMean{Mean: 4.5}, Score: &relabel.TaskMean{Mean: 0.5}, Files: figures(0.5)}
	iteration := func(number int) relabel.IterationLocalisation {
		return relabel.IterationLocalisation{IterationID: relabel.NewID(), Kind: relabel.Evaluate, Number: number, Student: fmt.Sprintf("student@%d", number), LocalisationFigures: of,
			Languages: []relabel.LanguageLocalisation{{LocalisationFigures: of}, {Language: "python", LocalisationFigures: of}}}
	}
	report := relabel.LocalisationReport{Iterations: []relabel.IterationLocalisation{iteration(1), iteration(2)}}
	report.Comparisons = []relabel.LocalisationComparison{{IterationID: report.Iterations[1].IterationID, WithID: report.Iterations[0].IterationID, Tasks: 2, Files: figures(-0.125)}}
	return report
}

func TestTheTablesOfLocalisationHaveAColumnForEachIteration(t *testing.T) {
	for name, c := range map[string]struct {
		table *table
		lines []string
	}{
		"iterations":  {localisationTable(localising(), false), []string{"FIGURE EVALUATE 1, student@1", "successful tool calls 19 of 20, 95.0% [80.0, 99.0]", "turns 4.5 4.5", "score 50.0 50.0", "nDCG@5 of files 50.0 [25.0, 75.0] 50.0 [25.0, 75.0]", "nDCG@5 of functions – –"}},
		"languages":   {localisationTable(localising(), true), []string{"evaluate 1, student@1, no known language evaluate 1, student@1, python evaluate 2, student@2, no known", "tasks 3 3 3 3"}},
		"comparisons": {localisationComparisons(localising()), []string{"FIGURE evaluate 2 minus evaluate 1", "tasks 2", "score –", "MAP of files -12.5 [-37.5, 12.5]"}},
	} {
		var b strings.Builder
		noError(t, c.table.write(&b))
		text := strings.Join(strings.Fields(b.String()), " ")
		for _, line := range c.lines {
			if !strings.Contains(strings.ToLower(text), strings.ToLower(line)) {
				t.Errorf("%s lack %q: %s", name, line, b.String())
			}
		}
	}
}
