package web

import (
	"net/http"
	"strconv"
	"strings"

	"relabel"
	"relabel/safetext"
	"relabel/web/show"
)

func (v *viewer) soundnessRoutes() routes {
	return routes{"GET /soundness/{taskset}": of(v.tasksetOf, v.showSoundness), "GET /validations/{validation}": of(v.validationOf, v.showValidation),
		"GET /validations/{validation}/{patch}/{number}": of(v.validationOf, v.showValidationLog)}
}

// soundStates are the choices of a filter.
var soundStates = []relabel.Soundness{relabel.TaskSound, relabel.TaskFlaky, relabel.TaskBroken, relabel.TaskInfra, relabel.Unvalidated}

type soundnessRow struct {
	relabel.TaskSoundness
	Link string
}

type soundnessView struct {
	Set         relabel.Taskset
	Counts      relabel.SoundnessCounts
	Tasks       []soundnessRow
	Revisions   []relabel.TasksetRevision
	State       relabel.Soundness
	States      []relabel.Soundness
	Excluded    bool
	Revision    int
	Next, First string
}

func (v *viewer) showSoundness(w http.ResponseWriter, r *http.Request, set relabel.Taskset) error {
	q := r.URL.Query()
	view := soundnessView{Set: set, State: relabel.Soundness(q.Get("state")), States: soundStates, Excluded: q.Get("excluded") == "true"}
	if err := checkSoundState(view.State); err != nil {
		return err
	}
	var err error
	if view.Revision, err = revisionOf(r); err != nil {
		return err
	}
	if view.Counts, err = v.Store.CountSoundness(r.Context(), set.ID, view.Revision); err != nil {
		return err
	}
	filter := relabel.SoundnessFilter{Revision: view.Revision, State: view.State, Excluded: view.Excluded}
	tasks, next, err := v.Store.ListSoundness(r.Context(), set.ID, filter, relabel.Page{After: q.Get("after"), Limit: tasksShown})
	if err != nil {
		return err
	}
	for _, t := range tasks {
		view.Tasks = append(view.Tasks, soundnessRow{t, taskPath(set.ID, t.TaskID, t.InstanceID)})
	}
	if view.Revisions, err = v.Store.ListTasksetRevisions(r.Context(), set.ID); err != nil {
		return err
	}
	view.Next, view.First = pageLinks(r, next)
	return v.render(w, r, page{Template: "soundness", Title: "Soundness of " + safetext.Plain(set.Name), Section: "Tasks", Crumbs: tasksetCrumbs(set), View: view})
}

func checkSoundState(state relabel.Soundness) error {
	if state == "" {
		return nil
	}
	for _, s := range soundStates {
		if s == state {
			return nil
		}
	}
	return relabel.Errorf(relabel.CodeInvalid, "%.100q is not a state of tasks", safetext.Plain(string(state))).On("state")
}

// revisionOf reads the revision of a task set that an address asks for, 0 for the newest.
func revisionOf(r *http.Request) (int, error) {
	word := r.URL.Query().Get("revision")
	if word == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 || n > 1_000_000 {
		return 0, relabel.Errorf(relabel.CodeInvalid, "%.100q is not a revision", safetext.Plain(word)).On("revision")
	}
	return n, nil
}

// validationOf finds the validation in an address.
func (v *viewer) validationOf(r *http.Request) (relabel.Validation, error) {
	id, err := relabel.ParseID("validation", r.PathValue("validation"))
	if err != nil {
		return relabel.Validation{}, err
	}
	return v.Store.FindValidation(r.Context(), id)
}

// validationCrumbs lead to a validation.
func (v *viewer) validationCrumbs(r *http.Request, found relabel.Validation) ([]crumb, error) {
	task, err := v.Store.FindTask(r.Context(), found.TaskID)
	if err != nil {
		return nil, err
	}
	set, err := v.Store.FindTaskset(r.Context(), task.TasksetID)
	return append(tasksetCrumbs(set), crumb{"Soundness", "/soundness/" + set.ID.String()}), err
}

func (v *viewer) showValidation(w http.ResponseWriter, r *http.Request, found relabel.Validation) error {
	crumbs, err := v.validationCrumbs(r, found)
	if err != nil {
		return err
	}
	return v.render(w, r, page{Template: "validation", Title: "Validation of " + safetext.Plain(found.InstanceID), Section: "Tasks", Crumbs: crumbs, View: found})
}

func (v *viewer) showValidationLog(w http.ResponseWriter, r *http.Request, found relabel.Validation) error {
	number, err := strconv.Atoi(r.PathValue("number"))
	if err != nil {
		return relabel.Errorf(relabel.CodeNotFound, "The validation has no such run.")
	}
	packed, err := v.Store.FindValidationLog(r.Context(), found.ID, relabel.ValidatedPatch(r.PathValue("patch")), number)
	if err != nil {
		return err
	}
	log, err := relabel.UnpackLog(packed)
	if err != nil {
		return err
	}
	crumbs, err := v.validationCrumbs(r, found)
	if err != nil {
		return err
	}
	crumbs = append(crumbs, crumb{found.InstanceID, "/validations/" + found.ID.String()})
	view := textView{What: "Log of the " + r.PathValue("patch") + " patch, run " + strconv.Itoa(number), Body: show.Whole(strings.TrimRight(string(log), "\n"))}
	view.InstanceID = found.InstanceID
	return v.render(w, r, page{Template: "text", Title: "Log of " + safetext.Plain(found.InstanceID), Section: "Tasks", Crumbs: crumbs, View: view})
}
