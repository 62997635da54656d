package web

import (
	"context"
	"net/http"

	"relabel"
	"relabel/safetext"
	"relabel/web/chart"
)

// runPage is the page of one run.
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
}

func (v *viewer) showRun(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	run, err := v.runOf(r)
	if err != nil {
		return err
	}
	view := runPage{}
	if view.runView, err = v.viewRun(ctx, run); err != nil {
		return err
	}
	stalls, err := v.stalls(ctx, view.Running())
	if err != nil {
		return err
	}
	view.Concerns, view.Causes = append(stalls, pausesOf(run, view.Iterations)...), causesIn(run, view.Iterations)
	if view.Spent, err = v.Store.FindSpent(ctx, run.ID); err != nil {
		return err
	}
	verdicts, err := v.Store.RegradeCounts(ctx, relabel.RegradeSelection{RunID: run.ID})
	if err != nil && relabel.CodeOf(err) != relabel.CodeConflict {
		return err
	}
	if err == nil {
		view.Verdicts, view.Regrading = verdictsByVersion(verdicts), regradeWords(verdicts)
		view.NotGraded = verdicts.Failures
	}
	if mayChange(r) {
		view.Operations = append(runOperations(view.runView), regradeOperations(run.ID, verdicts)...)
	}
	if wants(r, "charts") {
		if view.Charts, err = v.runCharts(ctx, run, view.Iterations); err != nil {
			return err
		}
	}
	if wants(r, "time") {
		if err := v.deepen(ctx, &view); err != nil {
			return err
		}
	}
	return v.render(w, r, page{Template: "run", Title: "Run " + safetext.Plain(run.Name), Section: "Home", Crumbs: []crumb{{"Home", "/"}},
		Scripts: []string{"uplot.js", "chart.js"}, Follow: "/v1/runs/" + run.ID.String() + "/events", View: view})
}

// runCharts returns a run's charts by iteration, after adding the spending to its rounds.
func (v *viewer) runCharts(ctx context.Context, run relabel.Run, rounds []round) ([]chart.Chart, error) {
	if err := v.addSpending(ctx, run.ID, rounds); err != nil {
		return nil, err
	}
	all := make([]chart.Round, len(rounds))
	for i, r := range rounds {
		all[i] = r.Round
	}
	collects := chart.OfKind(all, relabel.Collect)
	return []chart.Chart{chart.Mixture(run, collects), chart.Resolved(all), chart.Agreement(collects), chart.Turn(collects), chart.Ends(all, endWord),
		chart.Calls(all), chart.Tokens(run, all), chart.Cost(all)}, nil
}

// addSpending tells a run's rounds what each of their policies used.
func (v *viewer) addSpending(ctx context.Context, run relabel.ID, rounds []round) error {
	spending, err := v.Store.ListSpending(ctx, run)
	if err != nil {
		return err
	}
	for i := range rounds {
		rounds[i].Tokens = map[relabel.ID]int64{}
		for _, s := range spending {
			if s.IterationID == rounds[i].ID {
				rounds[i].Tokens[s.PolicyID] += s.Tokens
				rounds[i].Cost += s.Cost
			}
		}
	}
	return nil
}

// deepen adds what only attempts tell.
func (v *viewer) deepen(ctx context.Context, view *runPage) error {
	times, err := v.Store.ListTimes(ctx, view.ID)
	if err != nil {
		return err
	}
	var all relabel.TimeReport
	for _, it := range times {
		all = all.Add(it.TimeReport)
	}
	view.Time = newTimeView(all)
	return nil
}
