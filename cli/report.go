package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"relabel"
	"relabel/api"
)

// PrintIterations prints a line for each iteration of the runs, then the causes of failed
// trajectories.
func PrintIterations(ctx context.Context, cl *Session, runs ...relabel.Run) error {
	return printRuns(ctx, cl, false, runs...)
}

// printRuns is PrintIterations, optionally with the students, benchmarks and ids of the iterations: pause,
// retry, label and others take one.
func printRuns(ctx context.Context, cl *Session, ids bool, runs ...relabel.Run) error {
	heads := []string{"RUN", "ITERATION", "MIXTURE", "TRAJECTORIES", "FAILED", "TURNS", "BY TEACHER", "LABELS", "MISSING", "SUBMITTED"}
	heads = append(heads, gradeHeads(runs)...)
	heads = append(heads, "STATE")
	if ids {
		heads = append(heads, "STUDENT", "WEIGHTS", "BENCHMARK", "ID")
	}
	t := newTable(heads...)
	var causes []func() error
	for _, run := range runs {
		its, err := cl.Iterations(ctx, run.ID)
		if err != nil {
			return err
		}
		for _, it := range its {
			p := it.Progress
			ended, all := counts(p)
			cells := []any{run.Name, fmt.Sprintf("%s %d", it.Kind, it.Number), mixture(it.Iteration),
				fmt.Sprintf("%d of %d", ended, all), p.Trajectories[relabel.Failed], p.Turns, share(p.TeacherTurns, p.Turns), labelsOf(p), p.LabelsMissed,
				p.Submitted}
			cells = append(cells, grades(run.TaskKind, p)...)
			cells = append(cells, standing(run, it.Iteration))
			if ids {
				cells = append(cells, it.Student, weightsOf(it), benchmarkOf(it), it.ID)
			}
			t.row(cells...)
			causes = append(causes, func() error { return printPassAtK(run, it) }, func() error { return PrintCauses(ctx, cl, fmt.Sprintf("%s, %s %d", run.Name, it.Kind, it.Number), it) })
		}
	}
	if err := t.print(); err != nil {
		return err
	}
	for _, print := range causes {
		if err := print(); err != nil {
			return err
		}
	}
	return nil
}

// benchmarkOf is the name of an iteration's benchmark, "–" if it has none.
func benchmarkOf(it api.IterationView) string {
	if it.BenchmarkID == nil {
		return "–"
	}
	return cmp.Or(it.Benchmark, "without a name")
}

// gradeHeads are the heads of the columns of grades: scores where the tasks of the runs are to localise.
func gradeHeads(runs []relabel.Run) []string {
	repair := slices.ContainsFunc(runs, func(r relabel.Run) bool { return r.TaskKind != relabel.Localise })
	localise := slices.ContainsFunc(runs, func(r relabel.Run) bool { return r.TaskKind == relabel.Localise })
	switch {
	case repair && localise:
		return []string{"RESOLVED OR SCORE", "PASSED ONLY OR HITS"}
	case localise:
		return []string{"SCORE", "HITS"}
	}
	return []string{"RESOLVED", "PASSED ONLY"}
}

// grades are the cells of these columns: resolved trajectories among those with a verdict, and those that
// pass and were not submitted, with the mean reward of tasks in a terminal; or the mean score, and how many of the scored ones have a hit.
func grades(kind relabel.TaskKind, p relabel.Progress) []any {
	if kind == relabel.Localise {
		return []any{meanOf(p.MeanScore) + withoutVerdict(p), fmt.Sprintf("%d of %d", p.Hit, p.Scored)}
	}
	resolved := fmt.Sprintf("%d of %d", p.Resolved, p.Verified)
	if kind == relabel.Terminal {
		resolved += ", reward " + meanOf(p.MeanScore)
	}
	return []any{resolved + withoutVerdict(p), p.PassedUnsubmitted}
}

// withoutVerdict says how many trajectories were not verified, were ended by the label rule or were skipped.
func withoutVerdict(p relabel.Progress) (text string) {
	if p.Unverified > 0 {
		text += fmt.Sprintf(" (%d not verified)", p.Unverified)
	}
	if p.Cut > 0 {
		text += fmt.Sprintf(" (%d cut)", p.Cut)
	}
	return text
}

// labelsOf is the number of received labels, and how many states the label rule did not select.
func labelsOf(p relabel.Progress) string {
	if p.LabelsNotSelected == 0 {
		return strconv.Itoa(p.LabelsReceived)
	}
	return fmt.Sprintf("%d (%d not selected)", p.LabelsReceived, p.LabelsNotSelected)
}

// printPassAtK prints pass@k of an iteration that has it, and how many tasks have too few verdicts.
func printPassAtK(run relabel.Run, it api.IterationView) error {
	for _, p := range it.PassAtK {
		short := ""
		if p.Short > 0 {
			short = fmt.Sprintf("; %d with fewer than %d verdicts left out", p.Short, p.K)
		}
		say("%s, %s %d: pass@%d %s of %d tasks%s", run.Name, it.Kind, it.Number, p.K, meanOf(p.Value), p.Tasks, short)
	}
	return nil
}

// meanOf formats a mean from 0 to 1.
func meanOf(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f", *x)
}

// standing returns the state of an iteration: paused if it or its run is.
func standing(run relabel.Run, it relabel.Iteration) string {
	if it.State == relabel.IterationRunning && (it.Paused != nil || run.Paused != nil) {
		return "paused"
	}
	return string(it.State)
}

// mixture describes the executors of an iteration.
func mixture(it relabel.Iteration) string {
	switch {
	case it.Kind == relabel.Evaluate:
		return "student alone"
	case it.Kind == relabel.Sample:
		return "student alone, sampled"
	case it.Beta != nil:
		return fmt.Sprintf("β=%.2g", *it.Beta)
	case it.Rho != nil:
		if it.Rho.Max > 0 {
			return fmt.Sprintf("κ~%s %d", it.Rho.Kind, it.Rho.Max)
		}
		return "κ~" + it.Rho.Text()
	}
	return ""
}
