package web

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"relabel"
	"relabel/api"
)

// createRun creates a run.
func (v *viewer) createRun(r *http.Request, chosen url.Values) (operation, error) {
	policies, err := v.policyNames(r)
	if err != nil {
		return operation{}, err
	}
	sets, _, err := v.Store.ListTasksets(r.Context(), relabel.Page{Limit: 100})
	if err != nil {
		return operation{}, err
	}
	var tasksets []string
	for _, set := range sets {
		tasksets = append(tasksets, set.Name)
	}
	body, f := api.NewRun{Recipe: relabel.DAgger}, form{chosen: chosen}
	if err := f.read(&body); err != nil {
		return operation{}, err
	}
	if len(tasksets) > 0 {
		body.Taskset = cmp.Or(body.Taskset, tasksets[0])
	}
	return operation{Title: "Create a run", Verb: "Create", Back: "/", Done: madeAt("/runs/"), Call: call{http.MethodPost, "/v1/runs", body},
		Notes: []string{"No model is called until you start an iteration of the run."},
		Fields: f.fields(body, map[string]func(*operationField){
			"recipe":  with(nil, string(body.Recipe)),
			"taskset": with(tasksets, body.Taskset),
			"teacher": with(policies, ""),
		})}, nil
}

// createPolicy registers an endpoint, or a new version of a policy.
func (v *viewer) createPolicy(r *http.Request, chosen url.Values) (operation, error) {
	policies, err := v.policyNames(r)
	if err != nil {
		return operation{}, err
	}
	tokenizers, err := v.tokenizerNames(r)
	if err != nil {
		return operation{}, err
	}
	body, f := api.NewPolicy{}, form{chosen: chosen}
	if err := f.read(&body); err != nil {
		return operation{}, err
	}
	return operation{Title: "Register a policy", Verb: "Register", Back: "/policies", Done: madeAt("/policies/"), Call: call{http.MethodPost, "/v1/policies", body},
		Notes:  []string{"A name that is taken gets a new version; earlier versions are kept.", "API keys stay in the environment of the workers: only the name of the secret is stored."},
		Fields: f.fields(body, map[string]func(*operationField){"name": with(unversioned(policies), ""), "tokenizer": with(tokenizers, "")})}, nil
}

// unversioned are the names of policies without versions, each once.
func unversioned(policies []string) (names []string) {
	seen := map[string]bool{}
	for _, policy := range policies {
		name, _, _ := strings.Cut(policy, "@")
		if !seen[name] {
			names = append(names, name)
		}
		seen[name] = true
	}
	return names
}

// scheduleRun changes a run's priority, quota, budget and webhook. Only changes are sent.
func (v *viewer) scheduleRun(r *http.Request, chosen url.Values) (operation, error) {
	run, err := v.runOf(r)
	if err != nil {
		return operation{}, err
	}
	if !chosen.Has("priority") { // the form is new
		chosen = scheduleOfRun(run)
	}
	body, f, path := api.SchedulingPatch{}, form{chosen: chosen}, "/runs/"+run.ID.String()
	if err := f.read(&body); err != nil {
		return operation{}, err
	}
	keepChanges(&body, run)
	return operation{Title: "Change the scheduling of " + run.Name, Verb: "Change", Back: path, Call: call{http.MethodPatch, "/v1" + path, body},
		Notes: []string{"Takes effect with the next claim. Empty budget fields remove the bound, an empty URL the webhook."}, Fields: f.fields(body, nil)}, nil
}

// scheduleOfRun is a run's scheduling as a form has it.
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

// keepChanges removes what the run has already from a patch, and adds what was emptied.
func keepChanges(body *api.SchedulingPatch, run relabel.Run) {
	if body.Priority != nil && *body.Priority == run.Priority {
		body.Priority = nil
	}
	if body.Quota != nil && *body.Quota == run.Quota {
		body.Quota = nil
	}
	body.Budget = changed(body.Budget, (*api.NewBudget)(run.Budget))
	body.Webhook = changed(body.Webhook, (*api.NewWebhook)(run.Webhook))
}

// changed is what was chosen in the place of what there is: nil where they are the same, and
// empty where it was emptied.
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
