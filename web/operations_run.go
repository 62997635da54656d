package web

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"relabel"
	"relabel/api"
)

func (v *viewer) runOperationRoutes() routes {
	to := routes{}
	v.addOperation(to, "/runs/new", v.createRun)
	v.addOperation(to, "/runs/{id}/scheduling", on(v.runOf, v.scheduleRun))
	v.addOperation(to, "/runs/{id}/pause", on(v.runOf, v.pauseRun))
	v.addOperation(to, "/runs/{id}/resume", on(v.runOf, v.resumeRun))
	v.addOperation(to, "/runs/{id}/cancel", on(v.runOf, v.cancelRun))
	v.addOperation(to, "/runs/{id}/delete", on(v.runOf, v.deleteRun))
	v.addOperation(to, "/runs/{id}/start", on(v.runOf, v.startIteration))
	v.addOperation(to, "/runs/{id}/export", on(v.runOf, v.exportRun))
	v.addOperation(to, "/runs/{id}/verify", on(v.runOf, v.verifyRun))
	v.addOperation(to, "/runs/{id}/verify/cancel", on(v.runOf, v.cancelVerify))
	return to
}

// offeredNames is the number of policies, tasksets or tokenizers that a form suggests.
const offeredNames = 100

func (v *viewer) createRun(r *http.Request, chosen url.Values) (operation, error) {
	var policies []string
	var tasksets []relabel.Taskset
	l := load{ctx: r.Context()}
	read(&l, &policies, v.policyNames, offeredNames)
	read(&l, &tasksets, v.tasksets, offeredNames)
	if l.err != nil {
		return operation{}, l.err
	}
	set := chosenTaskset(tasksets, chosen.Get("taskset"))
	body, f := api.NewRun{}, runForm(set.Kind, chosen)
	if err := f.read(&body); err != nil {
		return operation{}, err
	}
	body.Taskset = cmp.Or(body.Taskset, set.Name)
	scaffolds := scaffoldsOf(set.Kind)
	if !slices.ContainsFunc(scaffolds, func(c choice) bool { return c.Value == body.Scaffold }) {
		body.Scaffold = "" // chosen for tasks of another kind
	}
	notes := []string{"No model is called until you start an iteration of the run."}
	if set.Name != "" {
		notes = append(notes, fmt.Sprintf("%s has %s.", set.Name, set.Kind.Words()))
	}
	var names []string
	for _, s := range tasksets {
		names = append(names, s.Name)
	}
	return operation{Title: "Create a run", Verb: "Create", Back: "/", Done: madeAt("/runs/"), Call: call{http.MethodPost, "/v1/runs", body}, Notes: notes,
		Fields: f.fields(body, map[string]func(*operationField){
			"taskset":  with(names, body.Taskset),
			"teacher":  with(policies, ""),
			"scaffold": func(f *operationField) { f.Choices, f.Value = scaffolds, body.Scaffold },
		})}, nil
}

// chosenTaskset is the task set with a name or id, the newest if nothing is chosen; zero if it is not known.
func chosenTaskset(sets []relabel.Taskset, nameOrID string) relabel.Taskset {
	for _, s := range sets {
		if nameOrID == "" || s.Name == nameOrID || s.ID.String() == nameOrID {
			return s
		}
	}
	return relabel.Taskset{}
}

// runForm is the form of a run with tasks of the kind, without the limits that do not bound them. With a set
// that is not known it has all.
func runForm(kind relabel.TaskKind, chosen url.Values) form {
	f := form{chosen: chosen}
	switch kind {
	case relabel.Repair:
		f.hidden = []string{"limits.score_depth", "limits.observation_bytes"}
	case relabel.Terminal:
		f.hidden = []string{"limits.score_depth", "limits.observation_bytes", "hints_from", "hints_evaluation", "hints_top"}
	case relabel.Localise:
		f.hidden = []string{"limits.command_seconds", "limits.verify_seconds", "hints_from", "hints_evaluation", "hints_top"}
	}
	return f
}

// scaffoldsOf are the scaffolds for tasks of the kind, all for an unknown one.
func scaffoldsOf(kind relabel.TaskKind) []choice {
	switch kind {
	case relabel.Repair:
		return []choice{{"", "openhands, the default"}, {"bare", "bare"}}
	case relabel.Localise:
		return []choice{{"", "reposearcher, the default"}}
	case relabel.Terminal:
		return []choice{{"", "terminal, the default"}}
	}
	return []choice{{"", "the default of the tasks"}, {"openhands", "openhands"}, {"bare", "bare"}, {"reposearcher", "reposearcher"}, {"terminal", "terminal"}}
}

// pause is the operation that pauses the run or iteration at path.
func pause(name, path string, chosen url.Values) (operation, error) {
	body, f := api.NewPause{}, form{chosen: chosen}
	err := f.read(&body)
	o := post(path, "/pause", "Pause "+name, "Pause", "No new work starts. Workers release its trajectories after the current turn; every turn is kept.")
	o.Fields, o.Call.Body = f.fields(body, nil), body
	return o, err
}

func (v *viewer) pauseRun(_ *http.Request, run relabel.Run, chosen url.Values) (operation, error) {
	return pause("run "+run.Name, runPath(run.ID), chosen)
}

// resume is the operation that resumes the run or iteration at path.
func resume(name, path, note string, chosen url.Values) (operation, error) {
	body, f := api.NewResume{}, form{chosen: chosen}
	err := f.read(&body)
	o := post(path, "/resume", "Resume "+name, "Resume", note)
	o.Fields, o.Call.Body = f.fields(body, nil), body
	return o, err
}

func (v *viewer) resumeRun(_ *http.Request, run relabel.Run, chosen url.Values) (operation, error) {
	return resume("run "+run.Name, runPath(run.ID), "Trajectories continue from their last committed turn. An iteration that was paused separately stays paused.", chosen)
}

func (v *viewer) cancelRun(_ *http.Request, run relabel.Run, _ url.Values) (operation, error) {
	return post(runPath(run.ID), "/cancel", "Cancel run "+run.Name, cancelVerb,
		"Cancels each running iteration. Finished trajectories are kept; the others never resume."), nil
}

// backgroundDeletion is the number of trajectories from which the server deletes a run in the
// background.
const backgroundDeletion = 500

func (v *viewer) deleteRun(r *http.Request, run relabel.Run, _ url.Values) (operation, error) {
	has, err := v.Store.CountRun(r.Context(), run.ID)
	o := remove(runPath(run.ID), "Delete run "+run.Name, "Delete permanently",
		fmt.Sprintf("Deleted: %d iterations, %d trajectories, %d turns, about %d calls, %d reviews, %d entries of exports.", has.Iterations, has.Trajectories, has.Turns, has.Calls, has.Reviews, has.Exports),
		"Kept: files that exports wrote, the task set, the policies, and the audit log.")
	o.Done = func([]byte) string { return "/" }
	if has.Trajectories > backgroundDeletion {
		o.Notes = append(o.Notes, "The server deletes a run of this size in the background; the page of the run shows this until the run is gone, and no new work can be started in it.")
	}
	if has.Deleting {
		o.Notes = append(o.Notes, "It is being deleted already; this is the part that is not deleted yet.")
	}
	if has.Refused != "" {
		o.Notes = append(o.Notes, "It cannot be deleted now: "+has.Refused+".")
	}
	return o, err
}

func runOperations(v runView) []operationLink {
	if v.DeletingAt != nil {
		return nil
	}
	path := runPath(v.ID)
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
	if slices.ContainsFunc(v.Iterations, func(r round) bool {
		return r.Kind == v.Recipe.DefaultKind() && r.BenchmarkID == nil && r.State == relabel.IterationDone
	}) {
		links = append(links, operationLink{"Export…", path + "/export"})
	}
	return links
}
