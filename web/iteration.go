package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"relabel"
	"relabel/safetext"
	"relabel/web/chart"
)

type iterationPage struct {
	round
	Run           relabel.Run
	Concerns      []concern
	Causes        causeTable
	Operations    []operationLink
	List          listView
	Beside        string // address of the list beside those of others
	Charts        []chart.Chart
	Time          timeView
	Relabelings   []relabelRow
	Draw          relabel.Draw
	PassAtK       []relabel.PassAtK
	Weights       *relabel.WeightCheck // the newest; nil: none
	ReservedSince int                  // tasks that benchmarks or exclusion lists reserve since it was created
}

// relabelRow is the progress of a relabeling with the name of its policy.
type relabelRow struct {
	relabel.RelabelProgress
	Policy string
}

// drawnShown is the number of drawn instances that a page names.
const drawnShown = 200

// Drawn are the first instances of the draw.
func (p iterationPage) Drawn() []string {
	return p.Draw.Instances[:min(len(p.Draw.Instances), drawnShown)]
}

// Over is the number of ended rollouts, without those that the label rule ended before a submission.
func (r round) Over() (n int) {
	for reason, of := range r.Figures.EndReasons {
		if !reason.Cut() {
			n += of
		}
	}
	return n
}

func (v *viewer) showIteration(w http.ResponseWriter, r *http.Request, it relabel.Iteration) error {
	path := iterationPath(it.ID)
	view := iterationPage{Beside: "/trajectories?run=" + it.RunID.String() + "&iteration=" + it.ID.String()}
	var rounds []round
	var stalls []concern
	l := load{ctx: r.Context()}
	read(&l, &view.Run, v.Store.FindRun, it.RunID)
	read(&l, &view.Draw, v.Store.FindDraw, it.ID)
	read(&l, &rounds, v.rounds, it.RunID)
	if i := slices.IndexFunc(rounds, func(of round) bool { return of.ID == it.ID }); i >= 0 {
		view.round = rounds[i]
		if view.State == relabel.IterationRunning {
			read(&l, &stalls, v.stalls, view.Run.TaskKind)
		}
		view.Concerns, view.Causes = append(stalls, pausesOf(view.Run, rounds[i:i+1])...), causesOfOne(view.round)
	}
	if mayChange(r) {
		view.Operations = iterationOperations(view.round)
	}
	read(&l, &view.Relabelings, v.relabelRows, it.ID)
	read(&l, &view.PassAtK, v.Store.ListPassAtK, it)
	read(&l, &view.Weights, v.newestWeights, relabel.WeightFilter{IterationID: &it.ID})
	read(&l, &view.ReservedSince, v.Store.CountReservedSince, it)
	if l.err == nil && wants(r, "trajectories") {
		view.List, l.err = v.list(r, listPlace{Path: path, InREST: url.Values{"iteration": {it.ID.String()}},
			Narrow: func(f *relabel.TrajectoryFilter) { f.IterationID = &it.ID }, Columns: columns{Task: true}})
	}
	if wants(r, "depth") {
		var spent relabel.TimeReport
		read(&l, &spent, v.Store.FindIterationTime, it.ID)
		view.Time = newTimeView(spent)
		view.Charts = []chart.Chart{chart.Turn([]chart.Round{view.Round}), chart.Compared(view.Round)}
	}
	if l.err != nil {
		return l.err
	}
	return v.render(w, r, page{Template: "iteration", Title: iterationName(it) + " of " + safetext.Plain(view.Run.Name), Section: "Home", Crumbs: []crumb{home, runCrumb(view.Run)},
		Keys: listKeys, Scripts: []string{"uplot.js", "chart.js", "list.js"}, Follow: "/v1" + path + "/events", View: view})
}

func (v *viewer) relabelRows(ctx context.Context, iteration relabel.ID) ([]relabelRow, error) {
	l := load{ctx: ctx}
	var all []relabel.RelabelProgress
	read(&l, &all, v.Store.RelabelProgress, iteration)
	rows := make([]relabelRow, len(all))
	for i, p := range all {
		rows[i].RelabelProgress = p
		read(&l, &rows[i].Policy, v.policyName, p.PolicyID)
	}
	return rows, l.err
}

// newestWeights is the newest check of weights; nil without any.
func (v *viewer) newestWeights(ctx context.Context, f relabel.WeightFilter) (*relabel.WeightCheck, error) {
	checks, err := v.Store.ListWeightChecks(ctx, f, 1)
	if err != nil || len(checks) == 0 {
		return nil, err
	}
	return &checks[0], nil
}
