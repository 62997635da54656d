package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"

	"relabel"
	"relabel/api"
	"relabel/web/chart"
)

func (v *viewer) iterationOperationRoutes() routes {
	to := routes{}
	v.addOperation(to, "/iterations/{id}/pause", on(v.iterationOf, v.pauseIteration))
	v.addOperation(to, "/iterations/{id}/resume", on(v.iterationOf, v.resumeIteration))
	v.addOperation(to, "/iterations/{id}/cancel", on(v.iterationOf, v.cancelIteration))
	v.addOperation(to, "/iterations/{id}/retry", on(v.iterationOf, v.retryIteration))
	v.addOperation(to, "/iterations/{id}/relabel", on(v.iterationOf, v.relabelIteration))
	return to
}

func (v *viewer) pauseIteration(_ *http.Request, it relabel.Iteration, chosen url.Values) (operation, error) {
	return pause(iterationName(it), iterationPath(it.ID), chosen)
}

func (v *viewer) resumeIteration(_ *http.Request, it relabel.Iteration, chosen url.Values) (operation, error) {
	return resume(iterationName(it), iterationPath(it.ID), "Trajectories continue from their last committed turn. Its run may still be paused.", chosen)
}

func (v *viewer) cancelIteration(_ *http.Request, it relabel.Iteration, _ url.Values) (operation, error) {
	return post(iterationPath(it.ID), "/cancel", "Cancel "+iterationName(it), cancelVerb,
		"Ends every unfinished trajectory within seconds. Finished ones are kept."), nil
}

// againVerbs name the operation that repeats the draw of an iteration.
var againVerbs = map[relabel.IterationKind]string{relabel.Evaluate: "Evaluate on these tasks…", relabel.Sample: "Sample these tasks again…"}

func iterationOperations(r round) (links []operationLink) {
	path, running := iterationPath(r.ID), r.State == relabel.IterationRunning
	switch {
	case running && r.Paused != nil:
		links = append(links, operationLink{"Resume…", path + "/resume"}, operationLink{"Cancel…", path + "/cancel"})
	case running:
		links = append(links, operationLink{"Pause…", path + "/pause"}, operationLink{"Cancel…", path + "/cancel"})
	}
	if r.Infra > 0 && r.State != relabel.IterationCancelled {
		links = append(links, operationLink{fmt.Sprintf("Retry %d failed…", r.Infra), path + "/retry"})
	}
	if verb := againVerbs[r.Kind]; verb != "" {
		query := url.Values{"kind": {string(r.Kind)}, "again": {r.ID.String()}}
		links = append(links, operationLink{verb, runPath(r.RunID) + "/start?" + query.Encode()})
	}
	if r.Kind == relabel.Collect && r.Progress.Trajectories[relabel.Done] > 0 {
		links = append(links, operationLink{"Relabel…", path + "/relabel"})
		if r.State == relabel.IterationDone {
			links = append(links, operationLink{"Export…", runPath(r.RunID) + "/export?iteration=" + fmt.Sprint(r.Number)})
		}
	}
	return links
}

// roundOf returns an iteration with its figures, and all iterations of its run.
func (v *viewer) roundOf(ctx context.Context, it relabel.Iteration) (one round, all []round, err error) {
	if all, err = v.spentRounds(ctx, it.RunID); err != nil {
		return one, nil, err
	}
	for _, r := range all {
		if r.ID == it.ID {
			return r, all, nil
		}
	}
	return one, nil, relabel.Errorf(relabel.CodeNotFound, "This iteration no longer exists.")
}

func (v *viewer) retryIteration(r *http.Request, it relabel.Iteration, chosen url.Values) (operation, error) {
	one, all, err := v.roundOf(r.Context(), it)
	if err != nil {
		return operation{}, err
	}
	body, f := api.Retry{}, form{chosen: chosen}
	err = f.read(&body)
	n := one.Infra
	if len(body.Reasons) > 0 {
		n = 0
	}
	for _, reason := range body.Reasons {
		n += one.Figures.Failures[reason]
	}
	o := post(iterationPath(it.ID), "/retry", "Retry failed trajectories of "+iterationName(it), "Retry",
		fmt.Sprintf("Queues %s trajectories again, with fresh limits. Earlier exports do not change.", chart.Grouped(int64(n))))
	o.Call.Body, o.Costs = body, costsOf(n, one.Kind, all)
	o.Fields = f.fields(body, map[string]func(*operationField){"reasons": func(f *operationField) { countReasons(f, one.Figures.Failures) }})
	return o, err
}

// countReasons shows how many trajectories failed for each reason.
func countReasons(f *operationField, failures map[relabel.FailureReason]int) {
	for i, c := range f.Choices {
		reason := relabel.FailureReason(c.Value)
		f.Choices[i].Text = fmt.Sprintf("%d %s", failures[reason], cmp.Or(failureWords[reason], c.Value))
	}
}

func (v *viewer) relabelIteration(r *http.Request, it relabel.Iteration, chosen url.Values) (operation, error) {
	one, _, err := v.roundOf(r.Context(), it)
	if err != nil {
		return operation{}, err
	}
	done := one.Progress.Trajectories[relabel.Done]
	o, err := v.relabeling(r.Context(), iterationPath(it.ID), iterationName(it), chosen,
		fmt.Sprintf("Asks for its action at every turn of %s trajectories that are done. The first labels are kept; exports can use these instead, and pages show how often both agree.", chart.Grouped(int64(done))))
	o.Costs = []cost{{"calls", chart.Grouped(int64(one.Progress.Turns)), "at most one per turn"}}
	for _, c := range costsOf(done, one.Kind, []round{one}) {
		if c.What == "tokens" {
			o.Costs = append(o.Costs, cost{"tokens", "up to " + c.Amount, "as many as rollouts and labels used"})
		}
	}
	return o, err
}

// relabeling asks another teacher at the states of the iteration or trajectory at path: the
// newest policy until one is chosen.
func (v *viewer) relabeling(ctx context.Context, path, name string, chosen url.Values, note string) (operation, error) {
	names, err := v.policyNames(ctx, offeredNames)
	if err != nil {
		return operation{}, err
	}
	body, f := api.NewRelabeling{}, form{chosen: chosen}
	err = f.read(&body)
	if len(names) > 0 {
		body.Policy = cmp.Or(body.Policy, names[0])
	}
	o := post(path, "/relabel", "Ask another teacher at the states of "+name, "Ask", note)
	o.Call.Body, o.Fields = body, f.fields(body, map[string]func(*operationField){"policy": with(names, body.Policy)})
	return o, err
}
