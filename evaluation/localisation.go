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
	case !r.Graded:
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
	if r.Score != nil {
		t.score += *r.Score
	}
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

// fileMeans are the task's figures of files; nil without gold.
func (t *localisedTask) fileMeans() []float64 { return divided(t.files, t.rollouts) }

// functionMeans are the task's score and then its figures of functions; nil without gold.
func (t *localisedTask) functionMeans() []float64 {
	if t.functions == nil {
		return nil
	}
	return divided(append([]float64{t.score}, t.functions...), t.rollouts)
}

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
	var turns, files, functions [][]float64
	for _, t := range tasks {
		f.Rollouts += t.rollouts
		submitted.Add(t.id, t.submitted, t.rollouts)
		calls.Add(t.id, t.calls-t.failed, t.calls)
		turns = append(turns, []float64{t.turns / float64(t.rollouts)})
		files = appendRow(files, t.fileMeans())
		functions = appendRow(functions, t.functionMeans())
	}
	f.Submitted, f.Calls = submitted.Proportion(), calls.Proportion()
	if len(turns) > 0 {
		f.Turns = &taskMeans(turns)[0]
	}
	f.Files = rankingFigures(files)
	f.Score, f.Functions = scoredFigures(functions)
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
	return toFigures(len(rows), taskMeans(rows))
}

// scoredFigures is rankingFigures of rows that have the score before the figures.
func scoredFigures(rows [][]float64) (score *relabel.TaskMean, figures *relabel.RankingFigures) {
	if len(rows) == 0 {
		return nil, nil
	}
	means := taskMeans(rows)
	return &means[0], toFigures(len(rows), means[1:])
}

func toFigures(tasks int, means []relabel.TaskMean) *relabel.RankingFigures {
	f := &relabel.RankingFigures{Tasks: tasks}
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
	var files, functions [][]float64
	for _, a := range l.tasks {
		b, common := with.at[a.id]
		if !common {
			continue
		}
		c.Tasks++
		files = appendRow(files, minus(a.fileMeans(), b.fileMeans()))
		functions = appendRow(functions, minus(a.functionMeans(), b.functionMeans()))
	}
	c.Files = rankingFigures(files)
	c.Score, c.Functions = scoredFigures(functions)
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
