package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"relabel"
	"relabel/web/chart"
)

// regradeBody is the body of grading a run again.
type regradeBody struct {
	Iteration  *relabel.ID `json:"iteration,omitempty"`
	Trajectory *relabel.ID `json:"trajectory,omitempty"`
	All        bool        `json:"all,omitempty"`
}

// The choices of which verdicts are replaced.
const (
	olderVerdicts = "of older protections"
	everyVerdict  = "all"
	everyRound    = "every iteration"
)

// verifyRun proposes to grade a run's submissions again.
func (v *viewer) verifyRun(r *http.Request, chosen url.Values) (operation, error) {
	run, err := v.runOf(r)
	if err != nil {
		return operation{}, err
	}
	iterations, err := v.Store.ListIterations(r.Context(), run.ID)
	if err != nil {
		return operation{}, err
	}
	names, body := []string{everyRound}, regradeBody{All: chosen.Get("which") == everyVerdict}
	for _, it := range iterations {
		name := fmt.Sprintf("%s %d", it.Kind, it.Number)
		names = append(names, name)
		if name == chosen.Get("of") {
			body.Iteration = &it.ID
		}
	}
	fields := []operationField{{Name: "of", Label: "Of", Value: or(chosen.Get("of"), everyRound), Choices: names},
		{Name: "which", Label: "Verdicts", Value: or(chosen.Get("which"), olderVerdicts), Choices: []string{olderVerdicts, everyVerdict}}}
	return v.regradeOperation(r, "Grade the submissions of "+run.Name+" again", relabel.RegradeSelection{RunID: run.ID}, body, fields, "/runs/"+run.ID.String())
}

// verifyTrajectory proposes to grade one submission again.
func (v *viewer) verifyTrajectory(r *http.Request, _ url.Values) (operation, error) {
	view, err := v.findTrajectory(r)
	if err != nil {
		return operation{}, err
	}
	sel := relabel.RegradeSelection{RunID: view.RunID, TrajectoryID: &view.ID}
	return v.regradeOperation(r, "Grade the submission for "+view.InstanceID+" again", sel, regradeBody{Trajectory: &view.ID, All: true}, nil, view.Base())
}

// regradeOperation is what grading a selection again does and costs.
func (v *viewer) regradeOperation(r *http.Request, title string, sel relabel.RegradeSelection, body regradeBody, fields []operationField, back string) (operation, error) {
	sel.IterationID = body.Iteration
	d := operation{Title: title, Verb: "Grade again", Fields: fields, Back: back, Call: call{http.MethodPost, "/v1/runs/" + sel.RunID.String() + "/verify", body}}
	p, err := v.Store.RegradeProgress(r.Context(), sel)
	if relabel.CodeOf(err) == relabel.CodeConflict {
		d.Notes = []string{"No trajectory is done: this will be refused."}
		return d, nil
	}
	if err != nil {
		return d, err
	}
	n, from := p.Outdated, "trajectories without a verdict of the present protections"
	if body.All {
		n, from = 0, "trajectories that are done"
		for _, of := range p.Verdicts {
			n += of.Verdicts
		}
	}
	d.Notes = []string{fmt.Sprintf("Each stored submission is tested in a fresh container under version %d of the verifier's protections. The new verdict counts from then on; the earlier one is kept. "+
		"An infrastructure error leaves the verdict as it is.", p.Protections), "Verdicts now: " + verdictsByVersion(p) + "."}
	d.Costs = []cost{{"containers", chart.Grouped(int64(n)), from}, {"tokens", "0", "no model is called"}}
	if !body.All && p.Outdated > 0 {
		d.Costs = append(d.Costs, cost{"container time", duration(p.OutdatedMillis), "as long as their current verdicts took together"})
	}
	return d, nil
}

// verdictsByVersion writes how many verdicts are of which version.
func verdictsByVersion(p relabel.RegradeProgress) string {
	var words []string
	for _, of := range p.Verdicts {
		words = append(words, fmt.Sprintf("%s of version %d", chart.Grouped(int64(of.Verdicts)), of.Protections))
	}
	return or(strings.Join(words, ", "), "none")
}

// regradeWords is the progress of a run's regradings; "" where there was none.
func regradeWords(p relabel.RegradeProgress) string {
	var words []string
	for _, state := range []relabel.RegradeState{relabel.RegradeQueued, relabel.RegradeRunning, relabel.RegradeDone, relabel.RegradeFailed, relabel.RegradeCancelled} {
		if n := p.Regradings[state]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, state))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return strings.Join(words, ", ") + fmt.Sprintf("; %d changed, %d infrastructure errors", p.Changed, p.Errors)
}

// cancelVerify proposes to cancel a run's regradings.
func (v *viewer) cancelVerify(r *http.Request, _ url.Values) (operation, error) {
	run, err := v.runOf(r)
	path := "/runs/" + run.ID.String()
	return operation{Title: "Cancel grading the submissions of " + run.Name + " again", Verb: "Cancel", Notes: []string{"What is queued or running is cancelled. Verdicts that were replaced stay so."},
		Call: call{http.MethodPost, "/v1" + path + "/verify/cancel", struct{}{}}, Back: path}, err
}

// regradeOperations are what can be done to a run's verdicts as they are.
func regradeOperations(run relabel.ID, p relabel.RegradeProgress) (links []operationLink) {
	path := "/runs/" + run.String() + "/verify"
	if len(p.Verdicts) > 0 || p.Outdated > 0 {
		links = append(links, operationLink{"Grade again…", path})
	}
	if p.Open() > 0 {
		links = append(links, operationLink{"Cancel grading…", path + "/cancel"})
	}
	return links
}
