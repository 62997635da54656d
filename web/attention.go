package web

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"relabel"
)

// concern is something that somebody should look at.
type concern struct {
	Class, Sign, Text string
	Link, LinkText    string
}

// failureWords say what failed, by reason.
var failureWords = map[relabel.FailureReason]string{
	relabel.FailEnvironment: "the sandbox or its engine failed", relabel.FailImageMissing: "the task’s image cannot be pulled", relabel.FailEndpoint: "the executor’s endpoint did not answer",
	relabel.FailVerifier: "the verifier failed", relabel.FailSecret: "a policy’s secret is missing", relabel.FailInternal: "internal error of relabel",
}

// pausesOf are what of a run is paused or being deleted.
func pausesOf(run relabel.Run, rounds []round) (all []concern) {
	if run.DeletingAt != nil {
		all = append(all, concern{"bad", "✕", "The run is being deleted; this page shows the part that is not deleted yet.", "", ""})
	}
	if run.Paused != nil {
		all = append(all, concern{"quiet", "Ⅱ", "The run is paused" + because(run.Paused) + ".", "", ""})
	}
	for _, r := range rounds {
		if r.Paused != nil && r.State == relabel.IterationRunning {
			all = append(all, concern{"quiet", "Ⅱ", fmt.Sprintf("%s %d is paused%s.", r.Kind, r.Number, because(r.Paused)), "", ""})
		}
	}
	return all
}

// concernsOf are a run's: pauses, failures by reason, missing labels. Its own page, and
// those of its iterations, have a table of the latter.
func concernsOf(run relabel.Run, rounds []round) []concern {
	all := pausesOf(run, rounds)
	for _, r := range rounds {
		name := fmt.Sprintf("%s %d", r.Kind, r.Number)
		list := "/trajectories?run=" + run.ID.String() + "&iteration=" + r.ID.String()
		for _, reason := range slices.Sorted(maps.Keys(r.Figures.Failures)) {
			all = append(all, concern{"infra", "⚠", fmt.Sprintf("%s: %d failed, %s", name, r.Figures.Failures[reason], failureWords[reason]),
				list + "&state=failed&failure=" + string(reason), "show them"})
		}
		if n := r.Figures.Progress.LabelsMissed; n > 0 {
			all = append(all, concern{"infra", "!", fmt.Sprintf("%s: %d of %d labels are missing", name, n, n+r.Figures.Progress.LabelsHad+r.Figures.Progress.LabelsOwed),
				list + "&labels=missing", "show where"})
		}
	}
	return all
}

// because says why something is paused.
func because(p *relabel.Pause) string {
	switch {
	case p.Text != "":
		return ": " + p.Text
	case p.Reason != relabel.PausedByUser:
		return ": " + string(p.Reason)
	}
	return ""
}

// stalls are why what runs may stand still: nothing where nothing runs.
func (v *viewer) stalls(ctx context.Context, running bool) ([]concern, error) {
	if !running {
		return nil, nil
	}
	workers, err := v.Store.ListWorkers(ctx)
	return workConcerns(workers, true), err
}

// workConcerns are those of who works: nobody does, or an endpoint is taken to be down.
func workConcerns(workers []relabel.Worker, running bool) (all []concern) {
	if running && len(workers) == 0 {
		all = append(all, concern{"bad", "✗", "Iterations are running without a worker: start one with relabel serve or relabel worker.", "", ""})
	}
	down := map[string]string{}
	for _, w := range workers {
		if w.Activity == nil {
			continue
		}
		for _, e := range w.Activity.Endpoints {
			if e.Down != "" {
				down[e.URL] = e.Down
			}
		}
	}
	for _, url := range slices.Sorted(maps.Keys(down)) {
		all = append(all, concern{"bad", "✗", "The endpoint " + url + " is down: " + down[url] + ". Its trajectories wait without a slot; other runs continue.", "/policies", "policies"})
	}
	return all
}
