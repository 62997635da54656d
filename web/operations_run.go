package web

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"relabel"
)

// operationRoutes are what can be done to runs and iterations.
func (v *viewer) operationRoutes() routes {
	to := routes{}
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

// pauseBody is the body of a pause.
type pauseBody struct {
	Text string `json:"text,omitempty"`
}

var pauseNotes = []string{"Nothing more of it is begun. What workers hold they give back after the turn in hand, with every turn kept."}

func whyField(chosen url.Values) []operationField {
	return []operationField{{Name: "text", Label: "Why", Value: chosen.Get("text"), Help: "Shown to whoever looks at it; may stay empty."}}
}

func (v *viewer) pauseRun(r *http.Request, chosen url.Values) (operation, error) {
	run, err := v.runOf(r)
	path := "/runs/" + run.ID.String()
	return operation{Title: "Pause run " + run.Name, Verb: "Pause", Notes: pauseNotes, Fields: whyField(chosen),
		Call: call{http.MethodPost, "/v1" + path + "/pause", pauseBody{chosen.Get("text")}}, Back: path}, err
}

func (v *viewer) resumeRun(r *http.Request, _ url.Values) (operation, error) {
	run, err := v.runOf(r)
	path := "/runs/" + run.ID.String()
	return operation{Title: "Let run " + run.Name + " go on", Verb: "Go on", Notes: []string{"Trajectories go on from their last committed turn. An iteration that is paused by itself stays so."},
		Call: call{http.MethodPost, "/v1" + path + "/resume", nil}, Back: path}, err
}

func (v *viewer) cancelRun(r *http.Request, _ url.Values) (operation, error) {
	run, err := v.runOf(r)
	path := "/runs/" + run.ID.String()
	return operation{Title: "Cancel run " + run.Name, Verb: "Cancel for good", Grave: true, Notes: []string{"Each of its iterations that runs is cancelled. What is done stays; what is not is never taken up again."},
		Call: call{http.MethodPost, "/v1" + path + "/cancel", nil}, Back: path}, err
}

func (v *viewer) pauseIteration(r *http.Request, chosen url.Values) (operation, error) {
	it, name, err := v.iterationOf(r)
	path := "/iterations/" + it.ID.String()
	return operation{Title: "Pause " + name, Verb: "Pause", Notes: pauseNotes, Fields: whyField(chosen),
		Call: call{http.MethodPost, "/v1" + path + "/pause", pauseBody{chosen.Get("text")}}, Back: backTo(it)}, err
}

func (v *viewer) resumeIteration(r *http.Request, _ url.Values) (operation, error) {
	it, name, err := v.iterationOf(r)
	return operation{Title: "Let " + name + " go on", Verb: "Go on", Notes: []string{"Trajectories go on from their last committed turn. Its run may still be paused."},
		Call: call{http.MethodPost, "/v1/iterations/" + it.ID.String() + "/resume", nil}, Back: backTo(it)}, err
}

func (v *viewer) cancelIteration(r *http.Request, _ url.Values) (operation, error) {
	it, name, err := v.iterationOf(r)
	return operation{Title: "Cancel " + name, Verb: "Cancel for good", Grave: true, Notes: []string{"Every trajectory that has not come to its end is ended within seconds. What is done stays."},
		Call: call{http.MethodPost, "/v1/iterations/" + it.ID.String() + "/cancel", nil}, Back: backTo(it)}, err
}

// runOf finds the run in an address, by its id or its name.
func (v *viewer) runOf(r *http.Request) (relabel.Run, error) {
	word := r.PathValue("id")
	if id, err := uuid.Parse(word); err == nil {
		return v.Store.FindRun(r.Context(), id)
	}
	return v.Store.FindRunByName(r.Context(), word)
}

// iterationOf finds the iteration in an address, and names it.
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

// runOperations are what can be done to a run as it is.
func runOperations(v runView) []operationLink {
	if v.DeletingAt != nil {
		return nil
	}
	path := "/runs/" + v.ID.String()
	links := []operationLink{{"Start an iteration…", path + "/start"}}
	switch {
	case v.Paused != nil:
		links = append(links, operationLink{"Go on…", path + "/resume"})
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
