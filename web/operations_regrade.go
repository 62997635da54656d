package web

import (
	"cmp"
	"context"
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

func (v *viewer) verifyRun(r *http.Request, run relabel.Run, chosen url.Values) (operation, error) {
	body, f := api.Regrade{}, form{chosen: chosen}
	fields, err := v.regradeFields(r.Context(), f, run.ID, body)
	if err := cmp.Or(err, f.read(&body)); err != nil {
		return operation{}, err
	}
	o, err := v.regrading(r.Context(), "Grade the submissions of "+run.Name+" again", run.ID, body, runPath(run.ID))
	o.Fields = fields
	return o, err
}

// regradeFields are the inputs of a regrading or its cancellation, with a choice of iterations.
func (v *viewer) regradeFields(ctx context.Context, f form, run relabel.ID, body any) ([]operationField, error) {
	iterations, err := v.Store.ListIterations(ctx, run)
	return f.fields(body, map[string]func(*operationField){"iteration": func(f *operationField) {
		f.Choices = []choice{{"", "every iteration"}}
		for _, it := range iterations {
			f.Choices = append(f.Choices, choice{it.ID.String(), iterationName(it)})
		}
	}}), err
}

// regrading grades a selection of a run's trajectories again.
func (v *viewer) regrading(ctx context.Context, title string, run relabel.ID, body api.Regrade, back string) (operation, error) {
	sel := relabel.RegradeSelection{RunID: run, TrajectoryID: body.Trajectory}
	if id, err := uuid.Parse(body.Iteration); err == nil {
		sel.IterationID = &id
	} else {
		sel.Iteration = number(body.Iteration, 0)
	}
	o := operation{Title: title, Verb: "Grade again", Back: back, Call: call{http.MethodPost, "/v1" + runPath(run) + "/verify", body}}
	p, err := v.Store.RegradeProgress(ctx, sel)
	if relabel.CodeOf(err) == relabel.CodeConflict {
		o.Notes = []string{"The server will refuse this: " + safeMessage(err) + "."}
		return o, nil
	}
	n, from := p.Outdated, "trajectories without a verdict of the current protections"
	if body.All {
		n, from = 0, "trajectories that are done"
		for _, of := range p.Verdicts {
			n += of.Verdicts
		}
	}
	o.Notes = []string{fmt.Sprintf("Tests each stored submission in a fresh container under version %d of the verifier's protections. The new verdict replaces the current one; earlier ones are kept. "+
		"An infrastructure error leaves the verdict unchanged.", p.Protections), "Verdicts now: " + verdictsByVersion(p) + "."}
	o.Costs = []cost{{"containers", chart.Grouped(int64(n)), from}, {"tokens", "0", "no model is called"}}
	if !body.All && p.Outdated > 0 {
		o.Costs = append(o.Costs, cost{"container time", show.Duration(p.OutdatedMillis), "the time that their current verdicts took"})
	}
	return o, err
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

func (v *viewer) cancelVerify(r *http.Request, run relabel.Run, chosen url.Values) (operation, error) {
	body, f := api.CancelRegrade{}, form{chosen: chosen}
	fields, err := v.regradeFields(r.Context(), f, run.ID, body)
	err = cmp.Or(err, f.read(&body))
	o := post(runPath(run.ID), "/verify/cancel", "Cancel grading the submissions of "+run.Name+" again", "Cancel", "Cancels queued and running regradings. Finished regradings keep their new verdicts.")
	o.Fields, o.Call.Body = fields, body
	return o, err
}

func regradeOperations(run relabel.ID, p relabel.RegradeProgress) (links []operationLink) {
	path := runPath(run) + "/verify"
	if len(p.Verdicts) > 0 || p.Outdated > 0 {
		links = append(links, operationLink{"Grade again…", path})
	}
	if p.Open() > 0 {
		links = append(links, operationLink{"Cancel grading…", path + "/cancel"})
	}
	return links
}
