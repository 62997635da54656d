package web

import (
	"context"
	"fmt"
	"net/http"

	"relabel"
	"relabel/web/chart"
)

// round is an iteration as pages show it.
type round struct {
	chart.Round
	Progress   relabel.Progress
	Student    string
	Ended, All int
	Infra      int
	Agreement  *float64
}

// runView is a run with its iterations.
type runView struct {
	relabel.Run
	Teacher    string
	Schedule   string
	Iterations []round
	Concerns   []concern
}

// Running reports whether an iteration of it is at work.
func (v runView) Running() bool {
	for _, r := range v.Iterations {
		if r.State == relabel.IterationRunning {
			return true
		}
	}
	return false
}

// homeView is the first page.
type homeView struct {
	Runs        []runView
	Next, After string
	Concerns    []runConcern
	Workers     []relabel.Worker
	Held, Slots int
	FirstSteps  []firstStep // while there is no run
	Operations  []operationLink
}

// runConcern is a concern with the run that it is about, if any.
type runConcern struct {
	concern
	RunID *relabel.ID
	Run   string
}

func (v *viewer) runRoutes() routes {
	return routes{"GET /{$}": v.showHome, "GET /runs/{id}": v.showRun, "GET /iterations/{id}": v.showIteration}
}

func (v *viewer) showHome(w http.ResponseWriter, r *http.Request) error {
	ctx, view := r.Context(), homeView{After: r.URL.Query().Get("after")}
	runs, next, err := v.Store.ListRuns(ctx, relabel.Page{After: view.After, Limit: 20})
	if err != nil {
		return err
	}
	view.Next = next
	running := false
	for _, run := range runs {
		one, err := v.viewRun(ctx, run)
		if err != nil {
			return err
		}
		running = running || one.Running()
		view.Runs = append(view.Runs, one)
		if one.Running() { // what is over was seen to, or never will be
			for _, c := range one.Concerns {
				view.Concerns = append(view.Concerns, runConcern{c, &one.ID, one.Name})
			}
		}
	}
	if view.Workers, err = v.Store.ListWorkers(ctx); err != nil {
		return err
	}
	for _, c := range workConcerns(view.Workers, running) {
		view.Concerns = append([]runConcern{{concern: c}}, view.Concerns...)
	}
	if len(runs) == 0 && view.After == "" {
		if view.FirstSteps, err = v.firstSteps(ctx); err != nil {
			return err
		}
	}
	if mayChange(r) {
		view.Operations = []operationLink{{"New run…", "/runs/new"}}
	}
	for _, worker := range view.Workers {
		view.Held += worker.Held
		view.Slots += worker.Rollouts
	}
	return v.render(w, r, page{Template: "home", Title: "Home", Section: "Home", Follow: "/v1/events", View: view})
}

// pathID reads the id in an address. What is no id is nowhere.
func pathID(r *http.Request) (relabel.ID, error) {
	id, err := relabel.ParseID("id", r.PathValue("id"))
	if err != nil {
		return id, relabel.Errorf(relabel.CodeNotFound, "Page not found.").Because(err)
	}
	return id, nil
}

// runCrumb and iterationCrumb are steps of the way to what belongs to a run.
func runCrumb(run relabel.Run) crumb { return crumb{run.Name, "/runs/" + run.ID.String()} }

func iterationCrumb(it relabel.Iteration) crumb {
	return crumb{fmt.Sprintf("%s %d", it.Kind, it.Number), "/iterations/" + it.ID.String()}
}

// viewRun finds a run's iterations with their figures.
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
	if view.Iterations, err = v.rounds(ctx, run.ID); err != nil {
		return view, err
	}
	view.Concerns = concernsOf(run, view.Iterations)
	return view, nil
}

// rounds are a run's iterations, in the order they were made.
func (v *viewer) rounds(ctx context.Context, run relabel.ID) ([]round, error) {
	its, err := v.Store.ListIterations(ctx, run)
	if err != nil {
		return nil, err
	}
	figures, err := v.Store.ListFigures(ctx, run)
	if err != nil {
		return nil, err
	}
	of := map[relabel.ID]relabel.Figures{}
	for _, f := range figures {
		of[f.Iteration.ID] = f
	}
	names := map[relabel.ID]string{}
	var all []round
	for _, it := range its {
		f := of[it.ID]
		if _, known := names[it.StudentID]; !known {
			if names[it.StudentID], err = v.policyName(ctx, it.StudentID); err != nil {
				return nil, err
			}
		}
		one := round{Round: chart.Round{Iteration: it, Figures: f}, Progress: f.Progress, Student: names[it.StudentID], Ended: f.Ended(), All: f.All(), Infra: f.Progress.Trajectories[relabel.Failed]}
		if f.Compared > 0 {
			one.Agreement = new(float64(f.Agreed) / float64(f.Compared))
		}
		all = append(all, one)
	}
	return all, nil
}

// policyName names a policy with its version.
func (v *viewer) policyName(ctx context.Context, id relabel.ID) (string, error) {
	p, err := v.Store.FindPolicy(ctx, id)
	if err != nil {
		return "", err
	}
	return nameOf(p), nil
}
