package web

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"relabel"
	"relabel/evaluation"
	"relabel/safetext"
	"relabel/web/chart"
)

// divergenceView compares the students of runs with a teacher: of one run with its scores, or of several.
type divergenceView struct {
	Report     relabel.DivergenceReport
	Run        *relabel.Run // nil: several
	Missing    string       // the run without a teacher that needs a choice of policy, "" for none
	Policy     string       // what the students are compared with, "" for the teachers of the runs
	Policies   []string     // offered ones
	Offers     []relabel.Run
	Scorings   []scoringRow
	Charts     []chart.Chart
	Operations []operationLink
	Query      template.URL // of the same report over REST
}

// Chosen reports whether a run is in the report.
func (v divergenceView) Chosen(run relabel.ID) bool {
	return slices.ContainsFunc(v.Report.Runs, func(r relabel.RunDivergence) bool { return r.RunID == run })
}

// Some reports whether a run has an iteration to compare.
func (v divergenceView) Some() bool {
	return slices.ContainsFunc(v.Report.Runs, func(r relabel.RunDivergence) bool { return len(r.Items) > 0 })
}

// scoringRow is the progress of an iteration's scorings with the name of their policy.
type scoringRow struct {
	relabel.ScoreProgress
	Policy string
}

// Iteration names the iteration.
func (r scoringRow) Iteration() string {
	return iterationName(relabel.Iteration{Kind: r.Kind, Number: r.Number})
}

// Open reports whether scorings are queued or running.
func (r scoringRow) Open() bool {
	return r.Scorings[relabel.ScoringQueued]+r.Scorings[relabel.ScoringRunning] > 0
}

// States are the scorings by state, in words.
func (r scoringRow) States() string {
	var words []string
	for _, state := range []relabel.ScoringState{relabel.ScoringQueued, relabel.ScoringRunning, relabel.ScoringDone, relabel.ScoringFailed, relabel.ScoringCancelled} {
		if n := r.Scorings[state]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, state))
		}
	}
	return strings.Join(words, ", ")
}

func (v *viewer) divergenceRoutes() routes {
	to := routes{"GET /runs/{id}/divergence": of(v.runOf, v.showDivergence), "GET /divergence": v.compareDivergence, "GET /divergence.csv": v.sendDivergence}
	v.addOperation(to, "/runs/{id}/scores", on(v.runOf, v.scoreRun))
	v.addOperation(to, "/runs/{id}/scores/cancel", on(v.runOf, v.cancelScores))
	return to
}

func divergencePath(run relabel.ID) string { return runPath(run) + "/divergence" }

func (v *viewer) showDivergence(w http.ResponseWriter, r *http.Request, run relabel.Run) error {
	view, err := v.divergenceView(r, []relabel.Run{run})
	if err != nil {
		return err
	}
	view.Run = &run
	if view.Scorings, err = v.scoringRows(r.Context(), run.ID); err != nil {
		return err
	}
	if mayChange(r) && run.DeletingAt == nil {
		view.Operations = scoringOperations(run.ID, view.Scorings)
	}
	return v.render(w, r, page{Template: "divergence", Title: "Students and teacher of " + safetext.Plain(run.Name), Section: "Home",
		Crumbs: []crumb{home, runCrumb(run)}, Scripts: []string{"uplot.js", "chart.js"}, View: view})
}

func (v *viewer) compareDivergence(w http.ResponseWriter, r *http.Request) error {
	runs, err := v.runsOf(r)
	if err != nil {
		return err
	}
	view, err := v.divergenceView(r, runs)
	if err != nil {
		return err
	}
	if view.Offers, err = v.runsToCompare(r.Context(), runs); err != nil {
		return err
	}
	return v.render(w, r, page{Template: "divergence", Title: "Students and teachers", Section: "Home", Crumbs: []crumb{home},
		Scripts: []string{"uplot.js", "chart.js"}, View: view})
}

func (v *viewer) divergenceView(r *http.Request, runs []relabel.Run) (view divergenceView, err error) {
	view.Policy = r.URL.Query().Get("policy")
	query := url.Values{}
	for _, run := range runs {
		query.Add("runs", run.ID.String())
		if run.TeacherID == (relabel.ID{}) && view.Policy == "" {
			view.Missing = run.Name
		}
	}
	if view.Policy != "" {
		query.Set("policy", view.Policy)
	}
	view.Query = template.URL(query.Encode())
	if view.Policies, err = v.policyNames(r.Context(), offeredNames); err != nil || view.Missing != "" {
		return view, err
	}
	view.Report, err = v.divergenceReport(r, runs)
	view.Charts = []chart.Chart{chart.Divergence(view.Report)}
	if bound := chart.DivergenceBound(view.Report); bound.Drawn() {
		view.Charts = append(view.Charts, bound)
	}
	return view, err
}

func (v *viewer) divergenceReport(r *http.Request, runs []relabel.Run) (relabel.DivergenceReport, error) {
	policy, err := inQuery(r, "policy", v.Store.FindPolicy, v.Store.FindPolicyByName)
	if err != nil {
		return relabel.DivergenceReport{}, err
	}
	var id *relabel.ID
	if policy != nil {
		id = &policy.ID
	}
	return evaluation.Divergence(r.Context(), v.Store, runs, id)
}

// sendDivergence sends the report as CSV, by tool if the query says so (?by=tool).
func (v *viewer) sendDivergence(w http.ResponseWriter, r *http.Request) error {
	runs, err := v.runsOf(r)
	if err != nil {
		return err
	}
	report, err := v.divergenceReport(r, runs)
	if err != nil {
		return err
	}
	table := evaluation.DivergenceTable
	switch by := r.URL.Query().Get("by"); by {
	case "":
	case "tool":
		table = evaluation.DivergenceTools
	default:
		return relabel.Errorf(relabel.CodeInvalid, "is %.100q: give tool, or omit it", safetext.Plain(by)).On("by")
	}
	heads, rows := table(report)
	return sendCSV(w, "divergence", heads, rows)
}

func (v *viewer) scoringRows(ctx context.Context, run relabel.ID) ([]scoringRow, error) {
	l := load{ctx: ctx}
	var all []relabel.ScoreProgress
	read(&l, &all, v.Store.ScoreProgress, relabel.ScoreSelection{RunID: run})
	rows := make([]scoringRow, len(all))
	for i, p := range all {
		rows[i].ScoreProgress = p
		read(&l, &rows[i].Policy, v.policyName, p.PolicyID)
	}
	return rows, l.err
}

// meanWord is a mean with its interval, if that is known.
func meanWord(m relabel.Mean) string {
	if m.Low == nil || m.High == nil {
		return fmt.Sprintf("%.4f", m.Mean)
	}
	return fmt.Sprintf("%.4f (%.4f to %.4f)", m.Mean, *m.Low, *m.High)
}
