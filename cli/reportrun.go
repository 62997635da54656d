package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"relabel"
	"relabel/evaluation"
)

// reportRun is `relabel report run RUN`.
type reportRun struct {
	reportFlags
	ByRepository bool `help:"Print the results by repository instead."`
}

// Run prints the evaluations with their comparisons, and the samples.
func (c *reportRun) Run(ctx context.Context) error {
	return c.withRun(ctx, func(cl *Session, run relabel.Run) error {
		report, err := cl.Evaluations(ctx, run.ID)
		switch {
		case err != nil:
			return err
		case c.Format == "json":
			return printJSON(report)
		case c.Format == "csv" && c.ByRepository:
			return printCSV(evaluation.RepositoryTable(report))
		case c.Format == "csv":
			return printCSV(evaluation.Table(report))
		case c.ByRepository:
			return printRepositories(report)
		}
		sayWhereScoresAre(run)
		return printEvaluations(run, report)
	})
}

// sayWhereScoresAre prints, of a run to localise, which report has what verdicts are not there for.
func sayWhereScoresAre(run relabel.Run) {
	if run.TaskKind == relabel.Localise {
		say("answers to localise have scores instead of verdicts, so nothing is resolved: `relabel report localise %s` shows them", run.Name)
	}
}

// evaluationTable has a row for each evaluation, then for each sample.
func evaluationTable(report relabel.EvaluationReport) *table {
	t := newTable("ITERATION", "BENCHMARK", "STUDENT", "TASKS", "UNGRADED", "NOT VERIFIED", "INFRASTRUCTURE", "CANCELLED", "OPEN", "SUBMITTED", "RESOLVED", "INTERVAL", "PASS@K", "ID")
	for _, r := range slices.Concat(report.Evaluations, report.Samples) {
		t.row(nameOfResults(r), benchmarkName(r), r.Student, r.Tasks, r.Ungraded, r.Unverified, r.Infrastructure, r.Cancelled, r.Open,
			proportionText(r.Submitted), proportionText(r.Resolved), r.Resolved.Interval, passAtKText(r.PassAtK), r.IterationID)
	}
	return t
}

func printEvaluations(run relabel.Run, report relabel.EvaluationReport) error {
	if len(report.Evaluations)+len(report.Samples) == 0 {
		say("the run has no evaluations or samples yet: `relabel run iterate %s --kind evaluate` with tasks to evaluate (`--benchmark`, `--held-out`) makes one", run.Name)
		return nil
	}
	if err := evaluationTable(report).print(); err != nil {
		return err
	}
	say("shares of the graded trajectories with 95%% intervals; a trajectory without a valid submission is not resolved")
	for _, r := range slices.Concat(report.Evaluations, report.Samples) {
		sayNotes(r)
	}
	for _, comparison := range report.Comparisons {
		say("%s", comparisonText(report, comparison))
	}
	return nil
}

func printRepositories(report relabel.EvaluationReport) error {
	t := newTable("ITERATION", "REPOSITORY", "TASKS", "UNGRADED", "RESOLVED", "INTERVAL")
	for _, of := range slices.Concat(report.Evaluations, report.Samples) {
		for _, r := range of.Repositories {
			t.row(nameOfResults(of), r.Repository, r.Tasks, r.Ungraded, proportionText(r.Resolved), r.Resolved.Interval)
		}
	}
	return t.print()
}

// sayNotes prints which tasks are excluded, the mean reward, how many tasks have hints of another run, and how many trained the student, if any.
func sayNotes(r relabel.Results) {
	if r.ExcludedTasks > 0 {
		say("%s, %s: %d tasks, %s", r.Run, nameOfResults(r), r.Tasks, relabel.ExcludedText(r.ExcludedTasks, r.Excluded, relabel.MostExcludedNamed))
	}
	if r.MeanReward != nil {
		say("%s, %s (%s): %s", r.Run, nameOfResults(r), r.Student, r.MeanRewardText())
	}
	if r.Hinted > 0 {
		say("%s, %s (%s): %s", r.Run, nameOfResults(r), r.Student, r.HintedText())
	}
	if r.Trained != nil {
		say("%s", trainedText(r))
	}
}

func trainedText(r relabel.Results) string {
	return fmt.Sprintf("%s, %s (%s): %s", r.Run, nameOfResults(r), r.Student, r.Trained.Text())
}

func nameOfResults(r relabel.Results) string { return fmt.Sprintf("%s %d", r.Kind, r.Number) }

// passAtKText lists pass@k, with the number of tasks that it leaves out.
func passAtKText(all []relabel.PassAtK) string {
	texts := make([]string, len(all))
	for i, p := range all {
		texts[i] = fmt.Sprintf("@%d %s", p.K, meanOf(p.Value))
		if p.Short > 0 {
			texts[i] += fmt.Sprintf(" (without %d tasks)", p.Short)
		}
	}
	return strings.Join(texts, ", ")
}

// benchmarkName is the benchmark's name, or its id if it has none; "–" without a benchmark.
func benchmarkName(r relabel.Results) string {
	if r.OnBenchmark() {
		return cmp.Or(r.Benchmark, r.BenchmarkID.String())
	}
	return "–"
}

func comparisonText(report relabel.EvaluationReport, c relabel.Comparison) string {
	number := map[relabel.ID]int{}
	for _, e := range report.Evaluations {
		number[e.IterationID] = e.Number
	}
	return fmt.Sprintf("evaluation %d against %d: %s", number[c.IterationID], number[c.WithID], differenceText(c))
}

// differenceText describes a comparison.
func differenceText(c relabel.Comparison) string {
	if c.Difference == nil {
		return fmt.Sprintf("no task is graded in both (%d tasks)", c.Ungraded)
	}
	interval := "(no interval)"
	if c.Low != nil && c.High != nil {
		interval = fmt.Sprintf("[%+.1f, %+.1f]", 100**c.Low, 100**c.High)
	}
	text := fmt.Sprintf("%+.1f points %s over %d tasks, better at %d, worse at %d", 100**c.Difference, interval, c.Tasks, c.Better, c.Worse)
	if c.P != nil {
		text += fmt.Sprintf(", exact McNemar p = %.3g", *c.P)
	}
	if c.Ungraded > 0 {
		text += fmt.Sprintf("; %d tasks are not graded in both", c.Ungraded)
	}
	return text
}
