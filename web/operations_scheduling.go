package web

import (
	"net/http"
	"net/url"
	"strconv"

	"relabel"
	"relabel/api"
)

// scheduleRun changes a run's priority, quota, budget and webhook. Only changes are sent.
func (v *viewer) scheduleRun(_ *http.Request, run relabel.Run, chosen url.Values) (operation, error) {
	if !chosen.Has("priority") { // the form is new
		chosen = scheduleOfRun(run)
	}
	body, f, path := api.SchedulingPatch{}, form{chosen: chosen}, runPath(run.ID)
	err := f.read(&body)
	keepChanges(&body, run)
	return operation{Title: "Change the scheduling of " + run.Name, Verb: "Change", Back: path, Call: call{http.MethodPatch, "/v1" + path, body},
		Notes: []string{"Takes effect with the next claim. Empty budget fields remove the limit; an empty URL removes the webhook."}, Fields: f.fields(body, nil)}, err
}

// scheduleOfRun returns the scheduling of a run as form values.
func scheduleOfRun(run relabel.Run) url.Values {
	now := url.Values{"priority": {strconv.Itoa(run.Priority)}, "quota": {strconv.Itoa(run.Quota)}}
	if run.Budget != nil {
		now.Set("budget.tokens", strconv.FormatInt(run.Budget.Tokens, 10))
		now.Set("budget.cost", strconv.FormatFloat(run.Budget.Cost, 'f', -1, 64))
	}
	if run.Webhook != nil {
		now.Set("webhook.url", run.Webhook.URL)
		now.Set("webhook.secret", run.Webhook.Secret)
	}
	return now
}

// keepChanges removes unchanged fields from a patch, and adds fields that were emptied.
func keepChanges(body *api.SchedulingPatch, run relabel.Run) {
	if body.Priority != nil && *body.Priority == run.Priority {
		body.Priority = nil
	}
	if body.Quota != nil && *body.Quota == run.Quota {
		body.Quota = nil
	}
	body.Budget = changed(body.Budget, run.Budget)
	body.Webhook = changed(body.Webhook, run.Webhook)
}

// changed returns nil if the chosen object equals the current one, and an empty object where
// it was emptied.
func changed[T comparable](chosen, now *T) *T {
	var none T
	if chosen == nil {
		chosen = &none
	}
	if now == nil {
		now = &none
	}
	if *chosen == *now {
		return nil
	}
	return chosen
}
