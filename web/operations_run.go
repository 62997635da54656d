package web

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"relabel"
	"relabel/api"
)

// operationRoutes are the operations on runs and iterations.
func (v *viewer) operationRoutes() routes {
	to := routes{}
	v.addOperation(to, "/runs/new", v.createRun)
	v.addOperation(to, "/runs/{id}/scheduling", v.scheduleRun)
	v.addOperation(to, "/policies/new", v.createPolicy)
	v.addOperation(to, "/runs/{id}/pause", v.pauseRun)
	v.addOperation(to, "/runs/{id}/resume", v.resumeRun)
	v.addOperation(to, "/runs/{id}/cancel", v.cancelRun)
	v.addOperation(to, "/runs/{id}/delete", v.deleteRun)
	v.addOperation(to, "/iterations/{id}/pause", v.pauseIteration)
	v.addOperation(to, "/iterations/{id}/resume", v.resumeIteration)
	v.addOperation(to, "/iterations/{id}/cancel", v.cancelIteration)
	v.addOperation(to, "/iterations/{id}/retry", v.retryIteration)
	v.addOperation(to, "/iterations/{id}/relabel", v.relabelIteration)
	v.addOperation(to, "/runs/{id}/start", v.startIteration)
	v.addOperation(to, "/runs/{id}/export", v.exportRun)
	v.addOperation(to, "/runs/{id}/verify", v.verifyRun)
	v.addOperation(to, "/runs/{id}/verify/cancel", v.cancelVerify)
	return to
}

const pauseNote = "No new work starts. Workers release its trajectories after the current turn; every turn is kept."

// pause is the operation that pauses the run or iteration at path.
func pause(name, path string, chosen url.Values) (operation, error) {
	body, f := api.NewPause{}, form{chosen: chosen}
	err := f.read(&body)
	return operation{Title: "Pause " + name, Verb: "Pause", Notes: []string{pauseNote}, Fields: f.fields(body, nil),
		Call: call{http.MethodPost, "/v1" + path + "/pause", body}, Back: path}, err
}

func (v *viewer) pauseRun(r *http.Request, chosen url.Values) (operation, error) {
	run, err := v.runOf(r)
	if err != nil {
		return operation{}, err
	}
	return pause("run "+run.Name, "/runs/"+run.ID.String(), chosen)
}

func (v *viewer) resumeRun(r *http.Request, _ url.Values) (operation, error) {
	run, err := v.runOf(r)
	path := "/runs/" + run.ID.String()
	return operation{Title: "Resume run " + run.Name, Verb: "Resume", Notes: []string{"Trajectories continue from their last committed turn. An iteration that was paused separately stays paused."},
		Call: call{http.MethodPost, "/v1" + path + "/resume", nil}, Back: path}, err
}

func (v *viewer) cancelRun(r *http.Request, _ url.Values) (operation, error) {
	run, err := v.runOf(r)
	path := "/runs/" + run.ID.String()
	return operation{Title: "Cancel run " + run.Name, Verb: "Cancel permanently", Grave: true, Notes: []string{"Cancels each running iteration. Finished trajectories are kept; the others never resume."},
		Call: call{http.MethodPost, "/v1" + path + "/cancel", nil}, Back: path}, err
}

func (v *viewer) pauseIteration(r *http.Request, chosen url.Values) (operation, error) {
	it, name, err := v.iterationOf(r)
	if err != nil {
		return operation{}, err
	}
	return pause(name, backTo(it), chosen)
}

func (v *viewer) resumeIteration(r *http.Request, _ url.Values) (operation, error) {
	it, name, err := v.iterationOf(r)
	return operation{Title: "Resume " + name, Verb: "Resume", Notes: []string{"Trajectories continue from their last committed turn. Its run may still be paused."},
		Call: call{http.MethodPost, "/v1/iterations/" + it.ID.String() + "/resume", nil}, Back: backTo(it)}, err
}

func (v *viewer) cancelIteration(r *http.Request, _ url.Values) (operation, error) {
	it, name, err := v.iterationOf(r)
	return operation{Title: "Cancel " + name, Verb: "Cancel permanently", Grave: true, Notes: []string{"Ends every unfinished trajectory within seconds. Finished ones are kept."},
		Call: call{http.MethodPost, "/v1/iterations/" + it.ID.String() + "/cancel", nil}, Back: backTo(it)}, err
}

// runOf finds the run in the URL, by id or name.
func (v *viewer) runOf(r *http.Request) (relabel.Run, error) {
	word := r.PathValue("id")
	if id, err := uuid.Parse(word); err == nil {
		return v.Store.FindRun(r.Context(), id)
	}
	return v.Store.FindRunByName(r.Context(), word)
}

// iterationOf finds the iteration in the URL, and names it.
func (v *viewer) iterationOf(r *http.Request) (it relabel.Iteration, name string, err error) {
	id, err := pathID(r)
	if err != nil {
		return it, "", err
	}
	it, _, err = v.Store.FindIteration(r.Context(), id)
	return it, fmt.Sprintf("%s %d", it.Kind, it.Number), err
}

// backTo is the page to return to from an iteration's operation.
func backTo(it relabel.Iteration) string { return "/iterations/" + it.ID.String() }

// runOperations are the operations that a run allows in its state.
func runOperations(v runView) []operationLink {
	if v.DeletingAt != nil {
		return nil
	}
	path := "/runs/" + v.ID.String()
	links := []operationLink{{"Start an iteration…", path + "/start"}, {"Scheduling…", path + "/scheduling"}}
	switch {
	case v.Paused != nil:
		links = append(links, operationLink{"Resume…", path + "/resume"})
	case v.Running():
		links = append(links, operationLink{"Pause…", path + "/pause"})
	}
	if v.Running() {
		links = append(links, operationLink{"Cancel…", path + "/cancel"})
	} else {
		links = append(links, operationLink{"Delete…", path + "/delete"})
	}
	for _, r := range v.Iterations {
		if r.Kind == relabel.Collect && r.State == relabel.IterationDone {
			return append(links, operationLink{"Export…", path + "/export"})
		}
	}
	return links
}
