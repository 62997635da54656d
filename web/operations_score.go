package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"relabel"
	"relabel/api"
	"relabel/web/chart"
)

// scoreRun has a policy score the student's tokens of a run: the teacher, if there is one, until
// another is chosen.
func (v *viewer) scoreRun(r *http.Request, run relabel.Run, chosen url.Values) (operation, error) {
	var names []string
	var teacher string
	l := load{ctx: r.Context()}
	read(&l, &names, v.policyNames, offeredNames)
	read(&l, &teacher, v.teacherName, run)
	body, f := api.NewScoring{}, form{chosen: chosen}
	if err := cmp.Or(l.err, f.read(&body)); err != nil {
		return operation{}, err
	}
	body.Policy = cmp.Or(body.Policy, teacher)
	choices, err := v.iterationChoices(r.Context(), run.ID)
	o := operation{Title: "Score the student's tokens of " + run.Name, Verb: "Score", Back: divergencePath(run.ID),
		Call: call{http.MethodPost, "/v1" + runPath(run.ID) + "/scores", body},
		Notes: []string{"The policy returns the log-probabilities of the tokens that the student sampled, at temperature 1 and without its own sampling settings. " +
			"The reverse KL divergence needs the scores of the student and of the teacher."},
		Fields: f.fields(body, map[string]func(*operationField){"policy": with(names, body.Policy), "iteration": func(f *operationField) { f.Choices = choices }})}
	if err != nil {
		return o, err
	}
	return o, v.addScoreCosts(r.Context(), &o, run.ID, body)
}

// iterationChoices offers all iterations of a run, or one.
func (v *viewer) iterationChoices(ctx context.Context, run relabel.ID) ([]choice, error) {
	iterations, err := v.Store.ListIterations(ctx, run)
	choices := []choice{{"", "every iteration"}}
	for _, it := range iterations {
		choices = append(choices, choice{it.ID.String(), iterationName(it)})
	}
	return choices, err
}

// addScoreCosts adds the estimated costs, or why the server will refuse the operation.
func (v *viewer) addScoreCosts(ctx context.Context, o *operation, run relabel.ID, body api.NewScoring) error {
	if body.Policy == "" {
		o.Notes = append(o.Notes, "The run has no teacher: choose a policy.")
		return nil
	}
	p, err := named(ctx, body.Policy, v.Store.FindPolicy, v.Store.FindPolicyByName)
	if err == nil {
		err = relabel.CheckScorer(p)
	}
	var e relabel.ScoreEstimate
	if err == nil {
		e, err = v.Store.EstimateScoring(ctx, scoreSelection(run, body.Iteration), p, body.TopK)
	}
	switch relabel.CodeOf(err) {
	case relabel.CodeInvalid, relabel.CodeNotFound, relabel.CodeConflict:
		o.Notes = append(o.Notes, "The server will refuse this: "+relabel.Shown(err)+".")
		return nil
	}
	if err != nil {
		return err
	}
	o.Notes = append(o.Notes, e.Skipped...)
	o.Costs = []cost{
		{"turns", chart.Grouped(int64(e.Turns)), fmt.Sprintf("of %s trajectories, not scored yet", chart.Grouped(int64(e.Trajectories)))},
		{"tokens to send", chart.Grouped(e.LeastPrompt) + " to " + chart.Grouped(e.MostPrompt), "a call scores all turns of a growing text"},
		{"tokens to score", chart.Grouped(e.Tokens), chart.Grouped(e.Bytes) + " bytes in the database"},
	}
	if e.LeastCostMicros != nil && e.MostCostMicros != nil {
		o.Costs = append(o.Costs, cost{"cost", fmt.Sprintf("%.2f to %.2f %s", float64(*e.LeastCostMicros)/1e6, float64(*e.MostCostMicros)/1e6, e.Currency), "by the policy's price of prompts"})
	}
	if e.WithoutIDs > 0 {
		o.Costs = append(o.Costs, cost{"turns without ids", chart.Grouped(int64(e.WithoutIDs)), "these cannot be scored"})
	}
	return nil
}

// scoreSelection selects a run, or one of its iterations by id or number.
func scoreSelection(run relabel.ID, iteration string) relabel.ScoreSelection {
	sel := relabel.ScoreSelection{RunID: run}
	if id, err := uuid.Parse(iteration); err == nil {
		sel.IterationID = &id
		return sel
	}
	sel.Iteration = number(iteration, 0)
	return sel
}

func (v *viewer) cancelScores(r *http.Request, run relabel.Run, chosen url.Values) (operation, error) {
	body, f := api.CancelScorings{}, form{chosen: chosen}
	err := f.read(&body)
	choices, problem := v.iterationChoices(r.Context(), run.ID)
	names, refused := v.policyNames(r.Context(), offeredNames)
	o := post(runPath(run.ID), "/scores/cancel", "Cancel scoring "+run.Name, "Cancel", "Cancels queued and running scorings. Stored scores are kept, and a new request computes the others.")
	o.Call.Body, o.Back = body, divergencePath(run.ID)
	o.Fields = f.fields(body, map[string]func(*operationField){"policy": with(names, ""), "iteration": func(f *operationField) { f.Choices = choices }})
	return o, cmp.Or(err, problem, refused)
}

func scoringOperations(run relabel.ID, rows []scoringRow) []operationLink {
	links := []operationLink{{"Score…", runPath(run) + "/scores"}}
	for _, r := range rows {
		if r.Open() {
			return append(links, operationLink{"Cancel scoring…", runPath(run) + "/scores/cancel"})
		}
	}
	return links
}
