package web

import (
	"context"
	"net/http"
	"slices"

	"relabel"
	"relabel/web/chart"
)

// round is an iteration with its summary.
type round struct {
	chart.Round
	Progress   relabel.Progress
	Student    string
	Ended, All int
	Infra      int
	Agreement  *float64
}

type runView struct {
	relabel.Run
	Teacher    string
	Schedule   string
	Iterations []round
	Concerns   []concern
}

// Running reports whether an iteration of it runs.
func (v runView) Running() bool {
	return slices.ContainsFunc(v.Iterations, func(r round) bool { return r.State == relabel.IterationRunning })
}

type homeView struct {
	Runs        []runView
	Next, After string
	Concerns    []runConcern
	Workers     []relabel.Worker
	Held, Slots int         // trajectories, and how many of tasks to repair can be held
	Searches    int         // how many of tasks to localise
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
	return routes{"GET /{$}": v.showHome, "GET /runs/{id}": of(v.runOf, v.showRun), "GET /runs/{id}/tasks": of(v.runOf, v.showGrid), "GET /iterations/{id}": of(v.iterationOf, v.showIteration)}
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
		view.Searches += worker.Searches
	}
	return v.render(w, r, page{Template: "home", Title: "Home", Section: "Home", Follow: "/v1/events", View: view})
}

func (v *viewer) viewRun(ctx context.Context, run relabel.Run) (runView, error) {
	view := runView{Run: run, Schedule: "teacher alone"}
	switch {
	case run.Recipe.OnPolicy():
		view.Schedule = "student alone, sampled"
	case run.Beta != nil:
		view.Schedule = "β " + betaWords(*run.Beta)
	case run.Rho != nil:
		view.Schedule = "κ " + run.Rho.Text()
	}
	l := load{ctx: ctx}
	read(&l, &view.Teacher, v.policyName, run.TeacherID)
	read(&l, &view.Iterations, v.rounds, run.ID)
	view.Concerns = concernsOf(run, view.Iterations)
	return view, l.err
}

// rounds are a run's iterations, in the order of their creation, without what they spent.
func (v *viewer) rounds(ctx context.Context, run relabel.ID) ([]round, error) {
	var its []relabel.Iteration
	var figures []relabel.Figures
	l, student := load{ctx: ctx}, remember(v.policyName)
	read(&l, &its, v.Store.ListIterations, run)
	read(&l, &figures, v.Store.ListFigures, run)
	of := map[relabel.ID]relabel.Figures{}
	for _, f := range figures {
		of[f.Iteration.ID] = f
	}
	var all []round
	for _, it := range its {
		f := of[it.ID]
		one := round{Round: chart.Round{Iteration: it, Figures: f}, Progress: f.Progress, Ended: f.Ended(), All: f.All(), Infra: f.Progress.Trajectories[relabel.Failed]}
		read(&l, &one.Student, student, it.StudentID)
		if f.Compared > 0 {
			one.Agreement = new(float64(f.Agreed) / float64(f.Compared))
		}
		all = append(all, one)
	}
	return all, l.err
}

// spentRounds are a run's iterations with what each of their policies used.
func (v *viewer) spentRounds(ctx context.Context, run relabel.ID) ([]round, error) {
	rounds, err := v.rounds(ctx, run)
	if err != nil {
		return nil, err
	}
	return rounds, v.addSpending(ctx, run, rounds)
}

func (v *viewer) addSpending(ctx context.Context, run relabel.ID, rounds []round) error {
	spending, err := v.Store.ListSpending(ctx, run)
	for i := range rounds {
		rounds[i].Tokens = map[relabel.ID]int64{}
		for _, s := range spending {
			if s.IterationID == rounds[i].ID {
				rounds[i].Tokens[s.PolicyID] += s.Tokens
				rounds[i].Cost += s.Cost
			}
		}
	}
	return err
}
