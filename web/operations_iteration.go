package web

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"relabel"
	"relabel/web/chart"
)

// iterationOperations are what can be done to an iteration as it is.
func iterationOperations(r round) (links []operationLink) {
	path := "/iterations/" + r.ID.String()
	running := r.State == relabel.IterationRunning
	switch {
	case running && r.Paused != nil:
		links = append(links, operationLink{"Go on…", path + "/resume"})
	case running:
		links = append(links, operationLink{"Pause…", path + "/pause"})
	}
	if running {
		links = append(links, operationLink{"Cancel…", path + "/cancel"})
	}
	if r.Infra > 0 && r.State != relabel.IterationCancelled {
		links = append(links, operationLink{fmt.Sprintf("Retry %d failed…", r.Infra), path + "/retry"})
	}
	if r.Kind == relabel.Evaluate {
		links = append(links, operationLink{"Evaluate on these tasks…", "/runs/" + r.RunID.String() + "/start?" + url.Values{"kind": {string(relabel.Evaluate)}, "again": {r.ID.String()}}.Encode()})
	}
	if r.Kind == relabel.Collect && r.Progress.Trajectories[relabel.Done] > 0 {
		links = append(links, operationLink{"Relabel…", path + "/relabel"})
		if r.State == relabel.IterationDone {
			links = append(links, operationLink{"Export…", "/runs/" + r.RunID.String() + "/export?iteration=" + fmt.Sprint(r.Number)})
		}
	}
	return links
}

// roundOf finds the iteration in an address with its figures and those of its run.
func (v *viewer) roundOf(r *http.Request) (one round, all []round, err error) {
	it, _, err := v.iterationOf(r)
	if err != nil {
		return one, nil, err
	}
	if all, err = v.rounds(r.Context(), it.RunID); err != nil {
		return one, nil, err
	}
	if err = v.addSpending(r.Context(), it.RunID, all); err != nil {
		return one, nil, err
	}
	for _, r := range all {
		if r.ID == it.ID {
			return r, all, nil
		}
	}
	return one, nil, relabel.Errorf(relabel.CodeNotFound, "There is no such iteration any more.")
}

// retryBody is the body of a retry.
type retryBody struct {
	Reasons []relabel.FailureReason `json:"reasons,omitempty"`
}

const anyReason = "any reason"

func (v *viewer) retryIteration(r *http.Request, chosen url.Values) (operation, error) {
	one, all, err := v.roundOf(r)
	if err != nil {
		return operation{}, err
	}
	reasons := []string{anyReason}
	for _, reason := range slices.Sorted(maps.Keys(one.Figures.Failures)) {
		reasons = append(reasons, string(reason))
	}
	reason, body, n := or(chosen.Get("reason"), anyReason), retryBody{}, one.Infra
	if reason != anyReason {
		body.Reasons = []relabel.FailureReason{relabel.FailureReason(reason)}
		n = one.Figures.Failures[relabel.FailureReason(reason)]
	}
	path := "/iterations/" + one.ID.String()
	return operation{Title: fmt.Sprintf("Retry what failed of %s %d", one.Kind, one.Number), Verb: "Retry",
		Notes:  []string{fmt.Sprintf("%s trajectories are queued once more, with fresh budgets. What was exported before stays as it is.", chart.Grouped(int64(n)))},
		Fields: []operationField{{Name: "reason", Label: "Failed for", Value: reason, Choices: reasons, Help: failureWords[relabel.FailureReason(reason)]}},
		Costs:  costsOf(n, one.Kind, all), Call: call{http.MethodPost, "/v1" + path + "/retry", body}, Back: path}, nil
}

// relabelBody is the body of a relabeling.
type relabelBody struct {
	Policy string `json:"policy"`
}

func (v *viewer) relabelIteration(r *http.Request, chosen url.Values) (operation, error) {
	one, _, err := v.roundOf(r)
	if err != nil {
		return operation{}, err
	}
	policy, names, err := v.otherTeacher(r, chosen)
	if err != nil {
		return operation{}, err
	}
	done := one.Progress.Trajectories[relabel.Done]
	path := "/iterations/" + one.ID.String()
	d := operation{Title: fmt.Sprintf("Ask another teacher at the states of %s %d", one.Kind, one.Number), Verb: "Ask",
		Notes:  []string{fmt.Sprintf("At every turn of %s trajectories that are done it says what it would do. The first labels stay; exports can take these instead, and pages show how often both agree.", chart.Grouped(int64(done)))},
		Fields: []operationField{{Name: "policy", Label: "Teacher", Value: policy, Choices: names}},
		Call:   call{http.MethodPost, "/v1" + path + "/relabel", relabelBody{policy}}, Back: path}
	d.Costs = []cost{{"calls", chart.Grouped(int64(one.Progress.Turns)), "one for each turn, at most"}}
	for _, c := range costsOf(done, one.Kind, []round{one}) {
		if c.What == "tokens" {
			d.Costs = append(d.Costs, cost{"tokens", "up to " + c.Amount, "as many as rollouts and labels used together"})
		}
	}
	return d, nil
}

// otherTeacher is the policy that was chosen to be asked, or the newest one, and the names
// of those to choose from.
func (v *viewer) otherTeacher(r *http.Request, chosen url.Values) (policy string, names []string, err error) {
	names, err = v.policyNames(r)
	if policy = chosen.Get("policy"); policy == "" && len(names) > 0 {
		policy = names[0]
	}
	return policy, names, err
}

// policyNames names the policies, the newest first.
func (v *viewer) policyNames(r *http.Request) (names []string, err error) {
	policies, _, err := v.Store.ListPolicies(r.Context(), relabel.Page{Limit: 100})
	for _, p := range policies {
		names = append(names, nameOf(p))
	}
	return names, err
}

// relabels reports whether another teacher can be asked at a trajectory's states.
func (v trajectoryView) relabels() bool {
	return v.State == relabel.Done && v.Trajectory.Kind == relabel.Collect && v.Turns > 0
}

func (v *viewer) relabelTrajectory(r *http.Request, chosen url.Values) (operation, error) {
	view, err := v.findTrajectory(r)
	if err != nil {
		return operation{}, err
	}
	if err := v.listHeads(r.Context(), &view); err != nil {
		return operation{}, err
	}
	policy, names, err := v.otherTeacher(r, chosen)
	if err != nil {
		return operation{}, err
	}
	d := operation{Title: "Ask another teacher at the states of " + view.InstanceID, Verb: "Ask",
		Notes:  []string{"At each of its turns it says what it would do. The first labels stay; exports can take these instead, and each turn shows them."},
		Fields: []operationField{{Name: "policy", Label: "Teacher", Value: policy, Choices: names}},
		Costs:  []cost{{"calls", chart.Grouped(int64(len(view.Heads))), "one for each turn that it has not answered yet, at most"}},
		Call:   call{http.MethodPost, "/v1" + view.Base() + "/relabel", relabelBody{policy}}, Back: view.Base()}
	if t := view.Tokens; t.PromptTokens > 0 {
		d.Costs = append(d.Costs, cost{"tokens", about(float64(t.PromptTokens + t.CompletionTokens)), "as many as its executed actions took, prompts and answers together"})
	}
	if !view.relabels() {
		d.Notes = append(d.Notes, "It is not done, or has no turn to ask about: this will be refused.")
	}
	return d, nil
}
