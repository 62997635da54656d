package web

import (
	"net/http"
	"net/url"

	"relabel"
	"relabel/safetext"
	"relabel/web/chart"
)

// iterationPage is the page of one iteration.
type iterationPage struct {
	round
	Run         relabel.Run
	Concerns    []concern
	Causes      causeTable
	Operations  []operationLink
	List        listView
	Beside      string // address of the list beside those of others
	Charts      []chart.Chart
	Time        timeView
	Relabelings []relabel.RelabelProgress
	Names       map[relabel.ID]string // of the policies that relabel
	Draw        relabel.Draw
}

// drawnShown is how many drawn instances a page names; REST has all.
const drawnShown = 200

// Drawn are the first instances of the draw.
func (p iterationPage) Drawn() []string {
	return p.Draw.Instances[:min(len(p.Draw.Instances), drawnShown)]
}

// Over is how many rollouts have ended, of which each submitted something valid or not.
func (r round) Over() (n int) {
	for _, of := range r.Figures.EndReasons {
		n += of
	}
	return n
}

func (v *viewer) showIteration(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	it, name, err := v.iterationOf(r)
	if err != nil {
		return err
	}
	view := iterationPage{Beside: "/trajectories?run=" + it.RunID.String() + "&iteration=" + it.ID.String(), Names: map[relabel.ID]string{}}
	if view.Run, err = v.Store.FindRun(ctx, it.RunID); err != nil {
		return err
	}
	if view.Draw, err = v.Store.FindDraw(ctx, it.ID); err != nil {
		return err
	}
	rounds, err := v.rounds(ctx, it.RunID)
	if err != nil {
		return err
	}
	for _, one := range rounds {
		if one.ID == it.ID {
			view.round = one
			stalls, err := v.stalls(ctx, one.State == relabel.IterationRunning)
			if err != nil {
				return err
			}
			view.Concerns, view.Causes = append(stalls, pausesOf(view.Run, []round{one})...), causesOfOne(one)
		}
	}
	if mayChange(r) {
		view.Operations = iterationOperations(view.round)
	}
	if err := v.addRelabelings(r, &view); err != nil {
		return err
	}
	if wants(r, "trajectories") {
		place := listPlace{Path: "/iterations/" + it.ID.String(), InREST: url.Values{"iteration": {it.ID.String()}},
			Narrow: func(f *relabel.TrajectoryFilter) { f.IterationID = &it.ID }, Columns: columns{Task: true}}
		if view.List, err = v.list(r, place); err != nil {
			return err
		}
	}
	if wants(r, "depth") {
		if err := v.deepenIteration(r, &view); err != nil {
			return err
		}
	}
	return v.render(w, r, page{Template: "iteration", Title: name + " of " + safetext.Plain(view.Run.Name), Section: "Home", Crumbs: []crumb{{"Home", "/"}, runCrumb(view.Run)},
		Keys: listKeys, Scripts: []string{"uplot.js", "chart.js", "list.js"}, Follow: "/v1/iterations/" + it.ID.String() + "/events", View: view})
}

// addRelabelings adds who relabels.
func (v *viewer) addRelabelings(r *http.Request, view *iterationPage) (err error) {
	if view.Relabelings, err = v.Store.RelabelProgress(r.Context(), view.ID); err != nil {
		return err
	}
	for _, p := range view.Relabelings {
		if view.Names[p.PolicyID], err = v.policyName(r.Context(), p.PolicyID); err != nil {
			return err
		}
	}
	return nil
}

// deepenIteration adds what turns and attempts tell.
func (v *viewer) deepenIteration(r *http.Request, view *iterationPage) error {
	view.Charts = []chart.Chart{chart.Turn([]chart.Round{view.Round}), chart.Compared(view.Round)}
	spent, err := v.Store.FindIterationTime(r.Context(), view.ID)
	if err != nil {
		return err
	}
	view.Time = newTimeView(spent)
	return nil
}
