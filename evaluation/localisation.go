package evaluation

import (
	"slices"

	"relabel"
	"relabel/ranking"
	"relabel/stats"
)

// localised sums up the rollouts of an iteration.
type localised struct {
	iteration      relabel.Iteration
	tasks          []*localisedTask // in the order in which they were added
	at             map[relabel.ID]*localisedTask
	ungraded, open int
}

// localisedTask sums up the graded rollouts of a task.
type localisedTask struct {
	id                                 relabel.ID
	languages                          []string
	rollouts, submitted, calls, failed int
	turns, score                       float64
	files, functions                   []float64 // sums of ranking.Figures; nil without gold
}

// add adds a rollout.
func (l *localised) add(r relabel.LocalisationRollout) {
	switch {
	case r.Open:
		l.open++
		return
	case r.Score == nil:
		l.ungraded++
		return
	}
	t, known := l.at[r.TaskID]
	if !known {
		t = &localisedTask{id: r.TaskID, languages: languagesOf(r.GoldFiles)}
		l.at[r.TaskID] = t
		l.tasks = append(l.tasks, t)
	}
	t.add(r)
}

func (t *localisedTask) add(r relabel.LocalisationRollout) {
	t.rollouts++
	t.calls += r.Calls
	t.failed += r.FailedCalls
	t.turns += float64(r.Turns)
	t.score += *r.Score
	var list []string
	if r.Submitted {
		t.submitted++
		list = r.Ranking
	}
	t.files = addFigures(t.files, ranking.Files(list), r.GoldFiles)
	t.functions = addFigures(t.functions, list, r.GoldFunctions)
}

// addFigures adds the figures of a list to their sums, unless there is no gold.
func addFigures(sums []float64, list, gold []string) []float64 {
	figures, known := ranking.Of(list, gold)
	if !known {
		return sums
	}
	values := figures.Values()
	if sums == nil {
		return values
	}
	for i, v := range values {
		sums[i] += v
	}
	return sums
}

// means are the task's turns and score.
func (t *localisedTask) means() []float64 { return divided([]float64{t.turns, t.score}, t.rollouts) }

// fileMeans are its figures of files, functionMeans those of functions; nil without gold.
func (t *localisedTask) fileMeans() []float64     { return divided(t.files, t.rollouts) }
func (t *localisedTask) functionMeans() []float64 { return divided(t.functions, t.rollouts) }

func divided(sums []float64, by int) []float64 {
	means := slices.Clone(sums)
	for i := range means {
		means[i] /= float64(by)
	}
	return means
}

// figuresOf are the figures of tasks.
func figuresOf(tasks []*localisedTask) relabel.LocalisationFigures {
	f := relabel.LocalisationFigures{Tasks: len(tasks)}
	var submitted, calls ByTask
	var all, files, functions [][]float64
	for _, t := range tasks {
		f.Rollouts += t.rollouts
		submitted.Add(t.id, t.submitted, t.rollouts)
		calls.Add(t.id, t.calls-t.failed, t.calls)
		all = append(all, t.means())
		files = appendRow(files, t.fileMeans())
		functions = appendRow(functions, t.functionMeans())
	}
	f.Submitted, f.Calls = submitted.Proportion(), calls.Proportion()
	if len(all) > 0 {
		means := taskMeans(all)
		f.Turns, f.Score = &means[0], &means[1]
	}
	f.Files, f.Functions = rankingFigures(files), rankingFigures(functions)
	return f
}

// appendRow appends a row unless it is nil.
func appendRow(rows [][]float64, row []float64) [][]float64 {
	if row == nil {
		return rows
	}
	return append(rows, row)
}

// rankingFigures are the means of rows, each with the figures of one task; nil without rows.
func rankingFigures(rows [][]float64) *relabel.RankingFigures {
	if len(rows) == 0 {
		return nil
	}
	f := &relabel.RankingFigures{Tasks: len(rows)}
	means := taskMeans(rows)
	for i, to := range f.Means() {
		*to = means[i]
	}
	return f
}

// taskMeans are the means of the columns of rows, of which each is one task.
func taskMeans(rows [][]float64) []relabel.TaskMean {
	means := make([]relabel.TaskMean, len(rows[0]))
	for _, row := range rows {
		for i, v := range row {
			means[i].Mean += v / float64(len(rows))
		}
	}
	if intervals, known := bootstraps.of(rows, stats.BootstrapMeans); known {
		for i, interval := range intervals {
			means[i].Low, means[i].High = &interval.Low, &interval.High
		}
	}
	return means
}

// byLanguage has the figures of tasks by the languages of their gold files, in the order of names.
func byLanguage(tasks []*localisedTask) []relabel.LanguageLocalisation {
	of := map[string][]*localisedTask{}
	var names []string
	for _, t := range tasks {
		for _, language := range t.languages {
			if of[language] == nil {
				names = append(names, language)
			}
			of[language] = append(of[language], t)
		}
	}
	slices.Sort(names)
	all := []relabel.LanguageLocalisation{}
	for _, name := range names {
		all = append(all, relabel.LanguageLocalisation{Language: name, LocalisationFigures: figuresOf(of[name])})
	}
	return all
}

// compared compares the tasks that two iterations have in common.
func (l *localised) compared(with *localised) relabel.LocalisationComparison {
	var c relabel.LocalisationComparison
	var scores, files, functions [][]float64
	for _, a := range l.tasks {
		b, common := with.at[a.id]
		if !common {
			continue
		}
		c.Tasks++
		scores = append(scores, minus(a.means(), b.means())[1:])
		files = appendRow(files, minus(a.fileMeans(), b.fileMeans()))
		functions = appendRow(functions, minus(a.functionMeans(), b.functionMeans()))
	}
	if c.Tasks > 0 {
		c.Score = &taskMeans(scores)[0]
	}
	c.Files, c.Functions = rankingFigures(files), rankingFigures(functions)
	return c
}

// minus is the difference of two rows of the same task.
func minus(a, b []float64) []float64 {
	difference := slices.Clone(a)
	for i, v := range b {
		difference[i] -= v
	}
	return difference
}
