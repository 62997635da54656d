package web

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"relabel"
	"relabel/api"
	"relabel/web/chart"
	"relabel/web/show"
)

// verifyRun grades a run's submissions again.
func (v *viewer) verifyRun(r *http.Request, chosen url.Values) (operation, error) {
	run, err := v.runOf(r)
	if err != nil {
		return operation{}, err
	}
	iterations, err := v.Store.ListIterations(r.Context(), run.ID)
	if err != nil {
		return operation{}, err
	}
	body, f := api.Regrade{}, form{chosen: chosen}
	if err := f.read(&body); err != nil {
		return operation{}, err
	}
	fields := f.fields(body, map[string]func(*operationField){"iteration": chooseIteration(iterations)})
	return v.regradeOperation(r, "Grade the submissions of "+run.Name+" again", run.ID, body, fields, "/runs/"+run.ID.String())
}

// chooseIteration offers a run's iterations by their names.
func chooseIteration(iterations []relabel.Iteration) func(*operationField) {
	return func(f *operationField) {
		f.Choices = []choice{{"", "every iteration"}}
		for _, it := range iterations {
			f.Choices = append(f.Choices, choice{it.ID.String(), fmt.Sprintf("%s %d", it.Kind, it.Number)})
		}
	}
}

// verifyTrajectory grades one submission again.
func (v *viewer) verifyTrajectory(r *http.Request, _ url.Values) (operation, error) {
	view, err := v.findTrajectory(r)
	if err != nil {
		return operation{}, err
	}
	return v.regradeOperation(r, "Grade the submission for "+view.InstanceID+" again", view.RunID, api.Regrade{Trajectory: &view.ID, All: true}, nil, view.Base())
}

// regradeOperation grades a selection of a run's trajectories again.
func (v *viewer) regradeOperation(r *http.Request, title string, run relabel.ID, body api.Regrade, fields []operationField, back string) (operation, error) {
	sel := relabel.RegradeSelection{RunID: run, TrajectoryID: body.Trajectory}
	if id, err := uuid.Parse(body.Iteration); err == nil {
		sel.IterationID = &id
	} else {
		sel.Iteration = number(body.Iteration, 0)
	}
	d := operation{Title: title, Verb: "Grade again", Fields: fields, Back: back, Call: call{http.MethodPost, "/v1/runs/" + run.String() + "/verify", body}}
	p, err := v.Store.RegradeProgress(r.Context(), sel)
	if relabel.CodeOf(err) == relabel.CodeConflict {
		d.Notes = []string{"The server will refuse this: no trajectory is done."}
		return d, nil
	}
	if err != nil {
		return d, err
	}
	n, from := p.Outdated, "trajectories without a verdict of the current protections"
	if body.All {
		n, from = 0, "trajectories that are done"
		for _, of := range p.Verdicts {
			n += of.Verdicts
		}
	}
	d.Notes = []string{fmt.Sprintf("Tests each stored submission in a fresh container under version %d of the verifier's protections. The new verdict replaces the current one; earlier ones are kept. "+
		"An infrastructure error leaves the verdict unchanged.", p.Protections), "Verdicts now: " + verdictsByVersion(p) + "."}
	d.Costs = []cost{{"containers", chart.Grouped(int64(n)), from}, {"tokens", "0", "no model is called"}}
	if !body.All && p.Outdated > 0 {
		d.Costs = append(d.Costs, cost{"container time", show.Duration(p.OutdatedMillis), "total of their current verdicts"})
	}
	return d, nil
}

// verdictsByVersion counts verdicts by version of the protections, in words.
func verdictsByVersion(p relabel.RegradeProgress) string {
	var words []string
	for _, of := range p.Verdicts {
		words = append(words, fmt.Sprintf("%s of version %d", chart.Grouped(int64(of.Verdicts)), of.Protections))
	}
	return cmp.Or(strings.Join(words, ", "), "none")
}

// regradeWords is the progress of a run's regradings, "" without any.
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

// cancelVerify cancels a run's regradings.
func (v *viewer) cancelVerify(r *http.Request, chosen url.Values) (operation, error) {
	run, err := v.runOf(r)
	if err != nil {
		return operation{}, err
	}
	iterations, err := v.Store.ListIterations(r.Context(), run.ID)
	if err != nil {
		return operation{}, err
	}
	body, f, path := api.CancelRegrade{}, form{chosen: chosen}, "/runs/"+run.ID.String()
	err = f.read(&body)
	return operation{Title: "Cancel grading the submissions of " + run.Name + " again", Verb: "Cancel", Notes: []string{"Cancels queued and running regradings. Verdicts that were replaced stay replaced."},
		Fields: f.fields(body, map[string]func(*operationField){"iteration": chooseIteration(iterations)}),
		Call:   call{http.MethodPost, "/v1" + path + "/verify/cancel", body}, Back: path}, err
}

// regradeOperations are the operations on a run's verdicts.
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
