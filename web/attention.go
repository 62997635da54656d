package web

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"relabel"
)

// concern is a problem that needs attention.
type concern struct {
	Class, Sign, Text string
	Link, LinkText    string
}

var failureWords = map[relabel.FailureReason]string{
	relabel.FailEnvironment: "the sandbox or its engine failed", relabel.FailImageMissing: "the task’s image cannot be pulled", relabel.FailEndpoint: "the executor’s endpoint did not answer",
	relabel.FailVerifier: "the verifier failed", relabel.FailSecret: "a policy’s secret is missing", relabel.FailInternal: "internal error of relabel",
}

// pausesOf lists pauses and the deletion of a run.
func pausesOf(run relabel.Run, rounds []round) (all []concern) {
	if run.DeletingAt != nil {
		all = append(all, concern{"bad", "✕", "The run is being deleted; this page shows the part that is not deleted yet.", "", ""})
	}
	if run.Paused != nil {
		all = append(all, concern{"quiet", "Ⅱ", "The run is paused" + because(run.Paused) + ".", "", ""})
	}
	for _, r := range rounds {
		if r.Paused != nil && r.State == relabel.IterationRunning {
			all = append(all, concern{"quiet", "Ⅱ", iterationName(r.Iteration) + " is paused" + because(r.Paused) + ".", "", ""})
		}
	}
	return all
}

// concernsOf lists the concerns of a run: pauses, failures by reason, missing labels. Its own page
// and those of its iterations have a table of failures instead.
func concernsOf(run relabel.Run, rounds []round) []concern {
	all := pausesOf(run, rounds)
	for _, r := range rounds {
		name := iterationName(r.Iteration)
		list := "/trajectories?run=" + run.ID.String() + "&iteration=" + r.ID.String()
		for _, reason := range slices.Sorted(maps.Keys(r.Figures.Failures)) {
			all = append(all, concern{"infra", "⚠", fmt.Sprintf("%s: %d failed, %s", name, r.Figures.Failures[reason], failureWords[reason]),
				list + "&state=failed&failure=" + string(reason), "show them"})
		}
		if n := r.Figures.Progress.LabelsMissed; n > 0 {
			all = append(all, concern{"infra", "!", fmt.Sprintf("%s: %d of %d labels are missing", name, n, n+r.Figures.Progress.LabelsReceived+r.Figures.Progress.LabelsPending),
				list + "&labels=missing", "show where"})
		}
	}
	return all
}

// because is the reason of a pause, for the end of a sentence.
func because(p *relabel.Pause) string {
	switch {
	case p.Text != "":
		return ": " + p.Text
	case p.Reason != relabel.PausedByUser:
		return ": " + string(p.Reason)
	}
	return ""
}

// stalls lists what may hold up running iterations with tasks of a kind.
func (v *viewer) stalls(ctx context.Context, kind relabel.TaskKind) ([]concern, error) {
	workers, err := v.Store.ListWorkers(ctx)
	all := workConcerns(workers, true)
	if lacked := relabel.LackedWorker(kind, workers); lacked != "" && len(workers) > 0 {
		all = append(all, concern{"bad", "✗", "Trajectories wait: " + lacked + ".", "", ""})
	}
	return all, err
}

// workConcerns lists concerns about workers: none is running, or an endpoint is down.
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
		all = append(all, concern{"bad", "✗", "The endpoint " + url + " is down: " + down[url] + "; its trajectories wait without a slot, and other runs continue", "/policies", "policies"})
	}
	return all
}
