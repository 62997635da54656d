package cli

import (
	"context"
	"fmt"

	"relabel"
	"relabel/api"
	"relabel/evaluation"
)

// reportLocalise is `relabel report localise RUN`.
type reportLocalise struct {
	reportFlags
	api.LocalisationQuery
	ByLanguage bool `help:"Show the figures by language of the gold files instead."`
}

// Run prints the figures, then the comparisons.
func (c *reportLocalise) Run(ctx context.Context) error {
	if c.LocalisationQuery.With != "" {
		if _, err := idOf("iteration", "--with", c.LocalisationQuery.With, "run show RUN"); err != nil {
			return err
		}
	}
	return c.withRun(ctx, func(cl *Session, run relabel.Run) error {
		report, err := cl.Localisation(ctx, run.ID, c.LocalisationQuery)
		switch {
		case err != nil:
			return err
		case c.Format == "json":
			return printJSON(report)
		case c.Format == "csv":
			return printCSV(evaluation.LocalisationTable(report))
		case len(report.Iterations) == 0:
			say("the run has no tasks to localise issues")
			return nil
		}
		return c.printLocalisation(report)
	})
}

func (c *reportLocalise) printLocalisation(report relabel.LocalisationReport) error {
	if err := localisationTable(report, c.ByLanguage).print(); err != nil {
		return err
	}
	say("means over tasks, in percent but for turns, with 95%% intervals by a bootstrap over tasks; submitted and tool calls are shares of all, with Wilson's interval or one clustered by task")
	for _, of := range report.Iterations {
		if of.ExcludedTasks > 0 {
			say("%s %d: %d tasks, %s", of.Kind, of.Number, of.Tasks, relabel.ExcludedText(of.ExcludedTasks, of.Excluded, relabel.MostExcludedNamed))
		}
		if of.Ungraded+of.Open > 0 {
			say("%s %d: %d trajectories without a grade and %d that have not ended are in no figure", of.Kind, of.Number, of.Ungraded, of.Open)
		}
	}
	if c.ByLanguage || len(report.Comparisons) == 0 {
		return nil
	}
	fmt.Println()
	if err := localisationComparisons(report).print(); err != nil {
		return err
	}
	say("differences in percentage points on the tasks that both have, with 95%% intervals by a bootstrap over tasks")
	return nil
}

// columns is a table with a column for each of several iterations, made row by row.
type columns struct {
	heads []string
	rows  [][]any
}

// add adds a column with the cells of rows that have the names.
func (c *columns) add(head string, names []string, cells []string) {
	if c.rows == nil {
		c.heads = []string{"FIGURE"}
		for _, name := range names {
			c.rows = append(c.rows, []any{name})
		}
	}
	c.heads = append(c.heads, head)
	for i, cell := range cells {
		c.rows[i] = append(c.rows[i], cell)
	}
}

func (c *columns) table() *table {
	t := newTable(c.heads...)
	for _, row := range c.rows {
		t.row(row...)
	}
	return t
}

// localisationTable has a column for each iteration, or for each of its languages.
func localisationTable(report relabel.LocalisationReport, byLanguage bool) *table {
	var c columns
	names := append([]string{"tasks", "rollouts", "submitted", "successful tool calls", "turns"}, rankingNames()...)
	add := func(head string, f relabel.LocalisationFigures) {
		cells := []string{fmt.Sprint(f.Tasks), fmt.Sprint(f.Rollouts), proportionText(f.Submitted), proportionText(f.Calls), taskMeanText(f.Turns, 1)}
		c.add(head, names, append(cells, rankingTexts(f.Score, f.Files, f.Functions)...))
	}
	for _, of := range report.Iterations {
		head := fmt.Sprintf("%s %d, %s", of.Kind, of.Number, of.Student)
		if !byLanguage {
			add(head, of.LocalisationFigures)
			continue
		}
		for _, language := range of.Languages {
			add(head+", "+languageText(language.Language), language.LocalisationFigures)
		}
	}
	return c.table()
}

// localisationComparisons has a column for each comparison.
func localisationComparisons(report relabel.LocalisationReport) *table {
	var c columns
	of := map[relabel.ID]string{}
	for _, it := range report.Iterations {
		of[it.IterationID] = fmt.Sprintf("%s %d", it.Kind, it.Number)
	}
	for _, one := range report.Comparisons {
		with := of[one.WithID]
		if with == "" {
			with = one.WithID.String() // of another run
		}
		head := fmt.Sprintf("%s minus %s", of[one.IterationID], with)
		c.add(head, append([]string{"tasks"}, rankingNames()...), append([]string{fmt.Sprint(one.Tasks)}, rankingTexts(one.Score, one.Files, one.Functions)...))
	}
	return c.table()
}

// rankingNames are the rows of rankingTexts.
func rankingNames() []string {
	names := []string{"score"}
	for _, level := range []string{"files", "functions"} {
		names = append(names, "tasks with gold "+level)
		for _, name := range relabel.RankingNames {
			names = append(names, name+" of "+level)
		}
	}
	return names
}

func rankingTexts(score *relabel.TaskMean, levels ...*relabel.RankingFigures) []string {
	texts := []string{taskMeanText(score, 100)}
	for _, of := range levels {
		if of == nil {
			texts = append(texts, make([]string, 1+len(relabel.RankingNames))...)
			continue
		}
		texts = append(texts, fmt.Sprint(of.Tasks))
		for _, mean := range of.Means() {
			texts = append(texts, taskMeanText(mean, 100))
		}
	}
	return texts
}

// taskMeanText is a mean times a factor with its interval, if that is known.
func taskMeanText(m *relabel.TaskMean, factor float64) string {
	switch {
	case m == nil:
		return ""
	case m.Low == nil || m.High == nil:
		return fmt.Sprintf("%.1f", factor*m.Mean)
	}
	return fmt.Sprintf("%.1f [%.1f, %.1f]", factor*m.Mean, factor**m.Low, factor**m.High)
}

// languageText is a language in words.
func languageText(language string) string {
	if language == "" {
		return "no known language"
	}
	return language
}
