package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"

	"relabel"
	"relabel/api"
	"relabel/judge"
	"relabel/web/chart"
)

func failuresPath(run relabel.ID) string { return runPath(run) + "/failures" }

// judgeRun has a policy judge the failure modes of a run: the teacher, if there is one, until another
// is chosen.
func (v *viewer) judgeRun(r *http.Request, run relabel.Run, chosen url.Values) (operation, error) {
	var names []string
	var teacher string
	l := load{ctx: r.Context()}
	read(&l, &names, v.policyNames, offeredNames)
	read(&l, &teacher, v.teacherName, run)
	body, f := api.NewJudging{}, form{chosen: chosen}
	if err := cmp.Or(l.err, f.read(&body)); err != nil {
		return operation{}, err
	}
	body.Policy = cmp.Or(body.Policy, teacher)
	choices, err := v.iterationChoices(r.Context(), run.ID)
	o := operation{Title: "Judge the failure modes of " + run.Name, Verb: "Judge", Back: failuresPath(run.ID),
		Call: call{http.MethodPost, "/v1" + runPath(run.ID) + "/judgings", body},
		Notes: []string{"The policy reads each done and unresolved trajectory and names its primary failure mode, beside the computed one. " +
			"Trajectories that it has judged with the current prompt are not judged again."},
		Fields: f.fields(body, map[string]func(*operationField){"policy": with(names, body.Policy), "iteration": func(f *operationField) { f.Choices = choices }})}
	if err != nil {
		return o, err
	}
	return o, v.addJudgeCosts(r.Context(), &o, run.ID, body)
}

// addJudgeCosts adds the estimated costs, or why the server will refuse the operation.
func (v *viewer) addJudgeCosts(ctx context.Context, o *operation, run relabel.ID, body api.NewJudging) error {
	if body.Policy == "" {
		o.Notes = append(o.Notes, "The run has no teacher: choose a policy.")
		return nil
	}
	p, err := named(ctx, body.Policy, v.Store.FindPolicy, v.Store.FindPolicyByName)
	var e relabel.JudgeEstimate
	if err == nil {
		of := scoreSelection(run, body.Iteration)
		sel := relabel.JudgeSelection{RunID: run, IterationID: of.IterationID, Iteration: of.Iteration, Modes: body.Modes, Sample: body.Sample, Seed: body.Seed}
		e, err = v.Store.EstimateJudging(ctx, sel, p, judge.Prompt(!body.HideGold))
	}
	switch relabel.CodeOf(err) {
	case relabel.CodeInvalid, relabel.CodeNotFound, relabel.CodeConflict:
		o.Notes = append(o.Notes, "The server will refuse this: "+relabel.Shown(err)+".")
		return nil
	}
	if err != nil {
		return err
	}
	o.Costs = []cost{
		{"trajectories", chart.Grouped(int64(e.Trajectories)), fmt.Sprintf("without a judgement; at most %s calls", chart.Grouped(int64(e.MostCalls)))},
		{"tokens to send", chart.Grouped(e.Tokens), "estimated, with one call for each"},
		{"tokens to receive", chart.Grouped(e.AnswerTokens), "estimated, with one call for each"},
	}
	if e.LeastCostMicros != nil && e.MostCostMicros != nil {
		o.Costs = append(o.Costs, cost{"cost", fmt.Sprintf("%.2f to %.2f %s", float64(*e.LeastCostMicros)/1e6, float64(*e.MostCostMicros)/1e6, e.Currency), "by the policy's prices"})
	}
	return nil
}

func (v *viewer) cancelJudgings(r *http.Request, run relabel.Run, chosen url.Values) (operation, error) {
	body, f := api.CancelJudgings{}, form{chosen: chosen}
	err := f.read(&body)
	choices, problem := v.iterationChoices(r.Context(), run.ID)
	names, refused := v.policyNames(r.Context(), offeredNames)
	o := post(runPath(run.ID), "/judgings/cancel", "Cancel judging "+run.Name, "Cancel", "Cancels queued and running judgings. Judgements are kept, and a new request judges the others.")
	o.Call.Body, o.Back = body, failuresPath(run.ID)
	o.Fields = f.fields(body, map[string]func(*operationField){"policy": with(names, ""), "iteration": func(f *operationField) { f.Choices = choices }})
	return o, cmp.Or(err, problem, refused)
}
