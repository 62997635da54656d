package web

import (
	"fmt"
	"net/http"
	"net/url"
)

// deleteRun says what a run consists of, and deletes it.
func (v *viewer) deleteRun(r *http.Request, _ url.Values) (deed, error) {
	run, err := v.runOf(r)
	if err != nil {
		return deed{}, err
	}
	had, err := v.Store.CountRun(r.Context(), run.ID)
	path := "/runs/" + run.ID.String()
	notes := []string{
		fmt.Sprintf("Deleted: %d iterations, %d trajectories, %d turns, about %d calls, %d reviews, %d entries of exports.", had.Iterations, had.Trajectories, had.Turns, had.Calls, had.Reviews, had.Exports),
		"Kept: files that exports wrote, the task set, the policies, and the audit log.",
	}
	if had.Refused != "" {
		notes = append(notes, "It cannot be deleted now: "+had.Refused+".")
	}
	return deed{Title: "Delete run " + run.Name, Verb: "Delete permanently", Grave: true, Notes: notes,
		Call: call{http.MethodDelete, "/v1" + path, nil}, Back: path, Done: func([]byte) string { return "/" }}, err
}
