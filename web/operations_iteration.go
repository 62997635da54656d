package web

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"

	"relabel"
	"relabel/api"
	"relabel/web/chart"
)

// iterationOperations are the operations that an iteration allows in its state.
func iterationOperations(r round) (links []operationLink) {
	path := "/iterations/" + r.ID.String()
	running := r.State == relabel.IterationRunning
	switch {
	case running && r.Paused != nil:
		links = append(links, operationLink{"Resume…", path + "/resume"})
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

// roundOf finds the iteration in the URL, with its figures and those of its run.
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
	return one, nil, relabel.Errorf(relabel.CodeNotFound, "This iteration no longer exists.")
}

func (v *viewer) retryIteration(r *http.Request, chosen url.Values) (operation, error) {
	one, all, err := v.roundOf(r)
	if err != nil {
		return operation{}, err
	}
	body, f := api.Retry{}, form{chosen: chosen}
	if err := f.read(&body); err != nil {
		return operation{}, err
	}
	n := one.Infra
	if len(body.Reasons) > 0 {
		n = 0
	}
	for _, reason := range body.Reasons {
		n += one.Figures.Failures[reason]
	}
	path := "/iterations/" + one.ID.String()
	return operation{Title: fmt.Sprintf("Retry failed trajectories of %s %d", one.Kind, one.Number), Verb: "Retry",
		Notes:  []string{fmt.Sprintf("Queues %s trajectories again, with fresh limits. Earlier exports do not change.", chart.Grouped(int64(n)))},
		Fields: f.fields(body, map[string]func(*operationField){"reasons": func(f *operationField) { countReasons(f, one.Figures.Failures) }}),
		Costs:  costsOf(n, one.Kind, all), Call: call{http.MethodPost, "/v1" + path + "/retry", body}, Back: path}, nil
}

// countReasons shows how many trajectories failed for each reason.
func countReasons(f *operationField, failures map[relabel.FailureReason]int) {
	for i, c := range f.Choices {
		reason := relabel.FailureReason(c.Value)
		f.Choices[i].Text = fmt.Sprintf("%d %s", failures[reason], cmp.Or(failureWords[reason], c.Value))
	}
}

func (v *viewer) relabelIteration(r *http.Request, chosen url.Values) (operation, error) {
	one, _, err := v.roundOf(r)
	if err != nil {
		return operation{}, err
	}
	body, fields, err := v.relabelForm(r, chosen)
	if err != nil {
		return operation{}, err
	}
	done := one.Progress.Trajectories[relabel.Done]
	path := "/iterations/" + one.ID.String()
	d := operation{Title: fmt.Sprintf("Ask another teacher at the states of %s %d", one.Kind, one.Number), Verb: "Ask",
		Notes:  []string{fmt.Sprintf("Asks for its action at every turn of %s trajectories that are done. The first labels are kept; exports can use these instead, and pages show how often both agree.", chart.Grouped(int64(done)))},
		Fields: fields,
		Call:   call{http.MethodPost, "/v1" + path + "/relabel", body}, Back: path}
	d.Costs = []cost{{"calls", chart.Grouped(int64(one.Progress.Turns)), "at most one per turn"}}
	for _, c := range costsOf(done, one.Kind, []round{one}) {
		if c.What == "tokens" {
			d.Costs = append(d.Costs, cost{"tokens", "up to " + c.Amount, "as many as rollouts and labels used"})
		}
	}
	return d, nil
}

// relabelForm is the form of a relabeling; its teacher is the newest policy until one is chosen.
func (v *viewer) relabelForm(r *http.Request, chosen url.Values) (body api.NewRelabeling, fields []operationField, err error) {
	names, err := v.policyNames(r)
	if err != nil {
		return body, nil, err
	}
	f := form{chosen: chosen}
	if err := f.read(&body); err != nil {
		return body, nil, err
	}
	if len(names) > 0 {
		body.Policy = cmp.Or(body.Policy, names[0])
	}
	return body, f.fields(body, map[string]func(*operationField){"policy": with(names, body.Policy)}), nil
}

// policyNames names the policies, newest first.
func (v *viewer) policyNames(r *http.Request) (names []string, err error) {
	policies, _, err := v.Store.ListPolicies(r.Context(), relabel.Page{Limit: 100})
	for _, p := range policies {
		names = append(names, nameOf(p))
	}
	return names, err
}

// relabels reports whether a trajectory can be relabelled.
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
	body, fields, err := v.relabelForm(r, chosen)
	if err != nil {
		return operation{}, err
	}
	d := operation{Title: "Ask another teacher at the states of " + view.InstanceID, Verb: "Ask",
		Notes:  []string{"Asks for its action at each turn. The first labels are kept; exports can use these instead, and each turn shows them."},
		Fields: fields,
		Costs:  []cost{{"calls", chart.Grouped(int64(len(view.Heads))), "at most one per turn that it has not answered yet"}},
		Call:   call{http.MethodPost, "/v1" + view.Base() + "/relabel", body}, Back: view.Base()}
	if t := view.Tokens; t.PromptTokens > 0 {
		d.Costs = append(d.Costs, cost{"tokens", about(float64(t.PromptTokens + t.CompletionTokens)), "as many as its executed actions used, prompt and completion"})
	}
	if !view.relabels() {
		d.Notes = append(d.Notes, "The server will refuse this: the trajectory is not done or has no turns.")
	}
	return d, nil
}
