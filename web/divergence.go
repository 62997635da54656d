package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"relabel"
	"relabel/safetext"
	"relabel/web/chart"
)

// divergenceView compares a run's students with its teacher.
type divergenceView struct {
	Run        relabel.Run
	Teacher    string
	Rows       []divergenceRow
	Scorings   []scoringRow
	Charts     []chart.Chart
	Operations []operationLink
}

// divergenceRow is the comparison of an iteration with the name of its student.
type divergenceRow struct {
	relabel.Divergence
	Student string
}

// Iteration names the iteration.
func (r divergenceRow) Iteration() string {
	return iterationName(relabel.Iteration{Kind: r.Kind, Number: r.Number})
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
	to := routes{"GET /runs/{id}/divergence": of(v.runOf, v.showDivergence)}
	v.addOperation(to, "/runs/{id}/scores", on(v.runOf, v.scoreRun))
	v.addOperation(to, "/runs/{id}/scores/cancel", on(v.runOf, v.cancelScores))
	return to
}

func divergencePath(run relabel.ID) string { return runPath(run) + "/divergence" }

func (v *viewer) showDivergence(w http.ResponseWriter, r *http.Request, run relabel.Run) error {
	view := divergenceView{Run: run}
	var all []relabel.Divergence
	l := load{ctx: r.Context()}
	read(&l, &view.Teacher, v.policyName, run.TeacherID)
	read(&l, &view.Scorings, v.scoringRows, run.ID)
	read(&l, &all, func(ctx context.Context, id relabel.ID) ([]relabel.Divergence, error) {
		return v.Store.ListDivergences(ctx, id, run.TeacherID)
	}, run.ID)
	for _, d := range all {
		row := divergenceRow{Divergence: d}
		read(&l, &row.Student, v.policyName, d.StudentID)
		view.Rows = append(view.Rows, row)
	}
	if l.err != nil {
		return l.err
	}
	view.Charts = []chart.Chart{chart.Divergence(all)}
	if mayChange(r) && run.DeletingAt == nil {
		view.Operations = scoringOperations(run.ID, view.Scorings)
	}
	return v.render(w, r, page{Template: "divergence", Title: "Students and teacher of " + safetext.Plain(run.Name), Section: "Home",
		Crumbs: []crumb{home, runCrumb(run)}, Scripts: []string{"uplot.js", "chart.js"}, View: view})
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
