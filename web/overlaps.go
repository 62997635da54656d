package web

import (
	"net/http"
	"strconv"

	"relabel"
	"relabel/overlap"
	"relabel/safetext"
)

// overlapsPage is the page of what the tasks of a task set have in common with others.
type overlapsPage struct {
	Set       relabel.Taskset
	Report    relabel.OverlapReport
	Threshold string
	Own       bool // the task set is compared with itself
	Lists     []relabel.Exclusion
}

// overlapsShown is the number of overlaps on the page.
const overlapsShown = 1000

func (v *viewer) showOverlaps(w http.ResponseWriter, r *http.Request, set relabel.Taskset) error {
	view := overlapsPage{Set: set, Threshold: r.URL.Query().Get("threshold"), Own: set.Tasks <= relabel.MostComparedTasks}
	query := relabel.OverlapQuery{TasksetID: set.ID, Threshold: overlap.Threshold}
	if view.Threshold != "" {
		threshold, err := strconv.ParseFloat(view.Threshold, 64)
		if err != nil || !(threshold >= 0.01 && threshold <= 1) {
			return relabel.Errorf(relabel.CodeInvalid, "%.100q is not a number from 0.01 to 1", safetext.Plain(view.Threshold)).On("threshold")
		}
		query.Threshold = threshold
	}
	var err error
	query.Benchmarks, err = relabel.AllPages(func(p relabel.Page) ([]relabel.Benchmark, string, error) {
		return v.Store.ListBenchmarks(r.Context(), relabel.BenchmarkFilter{}, p)
	})
	if err != nil {
		return err
	}
	query.Exclusions, err = relabel.AllPages(func(p relabel.Page) ([]relabel.Exclusion, string, error) {
		return v.Store.ListExclusions(r.Context(), p)
	})
	if err != nil {
		return err
	}
	if view.Own {
		query.Tasksets = []relabel.Taskset{set}
	}
	view.Lists = query.Exclusions
	if view.Report, err = v.Store.FindOverlaps(r.Context(), query); err != nil {
		return err
	}
	view.Report.Overlaps = view.Report.Overlaps[:min(len(view.Report.Overlaps), overlapsShown)]
	return v.render(w, r, page{Template: "overlaps", Title: "Overlaps of " + safetext.Plain(set.Name), Section: "Tasks", Crumbs: tasksetCrumbs(set), View: view})
}
