package web

import (
	"context"
	"fmt"
	"net/http"

	"relabel"
)

// iterationRow is an iteration as tables show it.
type iterationRow struct {
	relabel.Iteration
	Progress   relabel.Progress
	Student    string
	Ended, All int
	Infra      int
}

// runView is a run with its iterations.
type runView struct {
	relabel.Run
	Teacher    string
	Schedule   string
	Iterations []iterationRow
	Time       timeView      // of the page of one run
	Spent      relabel.Spent // likewise
	Deeds      []deedLink    // likewise
}

func (v *viewer) runRoutes() routes {
	return routes{"GET /{$}": v.showRuns, "GET /runs/{id}": v.showRun}
}

func (v *viewer) showRuns(w http.ResponseWriter, r *http.Request) error {
	runs, next, err := v.Store.ListRuns(r.Context(), relabel.Page{After: r.URL.Query().Get("after"), Limit: 20})
	if err != nil {
		return err
	}
	views := make([]runView, len(runs))
	for i, run := range runs {
		if views[i], err = v.viewRun(r.Context(), run); err != nil {
			return err
		}
	}
	return v.render(w, r, page{Template: "runs", Title: "Runs", Section: "Home", View: map[string]any{"Runs": views, "Next": next, "After": r.URL.Query().Get("after")}})
}

func (v *viewer) showRun(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	run, err := v.Store.FindRun(r.Context(), id)
	if err != nil {
		return err
	}
	view, err := v.viewRun(r.Context(), run)
	if err != nil {
		return err
	}
	times, err := v.Store.ListTimes(r.Context(), id)
	if err != nil {
		return err
	}
	var all relabel.TimeReport
	for _, it := range times {
		all = all.Add(it.TimeReport)
	}
	view.Time = newTimeView(all)
	if view.Spent, err = v.Store.FindSpent(r.Context(), id); err != nil {
		return err
	}
	if mayChange(r) {
		view.Deeds = runDeeds(view)
	}
	return v.render(w, r, page{Template: "run", Title: "Run " + plain(run.Name), Section: "Home", Crumbs: []crumb{{"Home", "/"}},
		Follow: "/v1/runs/" + run.ID.String() + "/events", View: view})
}

// runCrumb and iterationCrumb are steps of the way to what belongs to a run.
func runCrumb(run relabel.Run) crumb { return crumb{run.Name, "/runs/" + run.ID.String()} }

func iterationCrumb(it relabel.Iteration) crumb {
	return crumb{fmt.Sprintf("%s %d", it.Kind, it.Number), "/trajectories?run=" + it.RunID.String() + "&iteration=" + it.ID.String()}
}

// pathID reads the id in an address. What is no id is nowhere.
func pathID(r *http.Request) (relabel.ID, error) {
	id, err := relabel.ParseID("id", r.PathValue("id"))
	if err != nil {
		return id, relabel.Errorf(relabel.CodeNotFound, "There is no page at this address.").Because(err)
	}
	return id, nil
}

func (v *viewer) viewRun(ctx context.Context, run relabel.Run) (runView, error) {
	view := runView{Run: run, Schedule: "teacher alone"}
	switch {
	case run.Beta != nil:
		view.Schedule = "β " + betaWords(*run.Beta)
	case run.Rho != nil:
		view.Schedule = "κ " + rhoWords(*run.Rho)
	}
	var err error
	if view.Teacher, err = v.policyName(ctx, run.TeacherID); err != nil {
		return view, err
	}
	its, err := v.Store.ListIterations(ctx, run.ID)
	if err != nil {
		return view, err
	}
	for _, it := range its {
		row, err := v.viewIteration(ctx, it)
		if err != nil {
			return view, err
		}
		view.Iterations = append(view.Iterations, row)
	}
	return view, nil
}

func (v *viewer) viewIteration(ctx context.Context, it relabel.Iteration) (iterationRow, error) {
	it, progress, err := v.Store.FindIteration(ctx, it.ID)
	if err != nil {
		return iterationRow{}, err
	}
	row := iterationRow{Iteration: it, Progress: progress, Infra: progress.Trajectories[relabel.Failed]}
	for state, n := range progress.Trajectories {
		row.All += n
		if state.Terminal() {
			row.Ended += n
		}
	}
	row.Student, err = v.policyName(ctx, it.StudentID)
	return row, err
}

// policyName names a policy with its version.
func (v *viewer) policyName(ctx context.Context, id relabel.ID) (string, error) {
	p, err := v.Store.FindPolicy(ctx, id)
	if err != nil {
		return "", err
	}
	return nameOf(p), nil
}
