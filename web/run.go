package web

import (
	"context"
	"net/http"
	"slices"

	"relabel"
	"relabel/safetext"
	"relabel/web/chart"
)

type runPage struct {
	runView
	Causes     causeTable
	Spent      relabel.Spent
	Operations []operationLink
	// Verdicts counts the verdicts by version of the protections, Regrading the regradings by
	// state; "" without any.
	Verdicts, Regrading string
	// NotGraded are the trajectories whose submission could not be graded again.
	NotGraded []relabel.RegradeFailure
	Charts    []chart.Chart
	Time      timeView
	// PresetRows compare the run with the paper's experiment; none without a preset.
	PresetRows []relabel.PresetRow
	// Tasks is the task set at the run's revision, Excluded its first excluded tasks.
	Tasks    relabel.Taskset
	Excluded []relabel.ExcludedTask
}

// tasksetAt returns a run's task set at its revision.
func (v *viewer) tasksetAt(ctx context.Context, run relabel.Run) (relabel.Taskset, error) {
	return v.Store.FindTasksetAt(ctx, run.TasksetID, run.TasksetRevision)
}

// excludedOf returns the first excluded tasks of a run's task set at its revision.
func (v *viewer) excludedOf(ctx context.Context, run relabel.Run) ([]relabel.ExcludedTask, error) {
	return v.Store.ListExcludedTasks(ctx, run.TasksetID, run.TasksetRevision, relabel.MostExcludedNamed)
}

func (v *viewer) showRun(w http.ResponseWriter, r *http.Request, run relabel.Run) error {
	var view runPage
	var stalls []concern
	l := load{ctx: r.Context()}
	read(&l, &view.runView, v.viewRun, run)
	if view.Running() {
		read(&l, &stalls, v.stalls, run.TaskKind)
	}
	read(&l, &view.Spent, v.Store.FindSpent, run.ID)
	read(&l, &view.Tasks, v.tasksetAt, run)
	read(&l, &view.Excluded, v.excludedOf, run)
	if l.err != nil {
		return l.err
	}
	if run.Preset != "" {
		tasks, err := v.Store.CountTasks(l.ctx, run, run.AllowBenchmarks)
		if err != nil {
			return err
		}
		view.PresetRows = run.PresetRows(tasks.Open)
	}
	view.Concerns, view.Causes = append(stalls, pausesOf(run, view.Iterations)...), causesIn(run, view.Iterations)
	verdicts, err := v.Store.RegradeCounts(l.ctx, relabel.RegradeSelection{RunID: run.ID})
	if err != nil && relabel.CodeOf(err) != relabel.CodeConflict {
		return err
	}
	if err == nil {
		view.Verdicts, view.Regrading, view.NotGraded = verdictsByVersion(verdicts), regradeWords(verdicts), verdicts.Failures
	}
	if mayChange(r) {
		view.Operations = append(runOperations(view.runView), regradeOperations(run.ID, verdicts)...)
	}
	if wants(r, "charts") {
		l.err = v.addSpending(l.ctx, run.ID, view.Iterations)
		view.Charts = runCharts(run, view.Iterations)
	}
	if wants(r, "time") {
		read(&l, &view.Time, v.runTime, run.ID)
	}
	if l.err != nil {
		return l.err
	}
	return v.render(w, r, page{Template: "run", Title: "Run " + safetext.Plain(run.Name), Section: "Home", Crumbs: []crumb{home},
		Scripts: []string{"uplot.js", "chart.js"}, Follow: "/v1" + runPath(run.ID) + "/events", View: view})
}

func runCharts(run relabel.Run, rounds []round) []chart.Chart {
	all := make([]chart.Round, len(rounds))
	for i, r := range rounds {
		all[i] = r.Round
	}
	collects := chart.OfKind(all, relabel.Collect)
	grades, calls := []chart.Chart{chart.Resolved(all)}, chart.Calls(all)
	switch run.TaskKind {
	case relabel.Terminal:
		grades = append(grades, chart.Scores(all))
	case relabel.Localise:
		grades = []chart.Chart{chart.Scores(all), chart.Hits(all)}
		calls.Note = "with Exit, which the page of localisation leaves out"
	}
	return slices.Concat([]chart.Chart{chart.Mixture(run, collects)}, grades, []chart.Chart{chart.Agreement(collects), chart.Turn(collects), chart.Ends(all, endWord),
		calls, chart.Tokens(run, all), chart.Cost(all)})
}

// runTime is the time of all attempts of a run.
func (v *viewer) runTime(ctx context.Context, run relabel.ID) (timeView, error) {
	times, err := v.Store.ListTimes(ctx, run)
	var all relabel.TimeReport
	for _, it := range times {
		all = all.Add(it.TimeReport)
	}
	return newTimeView(all), err
}
