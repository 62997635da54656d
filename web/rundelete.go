package web

import (
	"fmt"
	"net/http"
	"net/url"
)

// quickDeletion is of how many trajectories a run is deleted within a request.
const quickDeletion = 500

// deleteRun says what a run consists of, and deletes it.
func (v *viewer) deleteRun(r *http.Request, _ url.Values) (operation, error) {
	run, err := v.runOf(r)
	if err != nil {
		return operation{}, err
	}
	had, err := v.Store.CountRun(r.Context(), run.ID)
	path := "/runs/" + run.ID.String()
	notes := []string{
		fmt.Sprintf("Deleted: %d iterations, %d trajectories, %d turns, about %d calls, %d reviews, %d entries of exports.", had.Iterations, had.Trajectories, had.Turns, had.Calls, had.Reviews, had.Exports),
		"Kept: files that exports wrote, the task set, the policies, and the audit log.",
	}
	if had.Trajectories > quickDeletion {
		notes = append(notes, "The server deletes a run of this size in the background; the page of the run says so until it is gone, and nothing new can be started in it.")
	}
	if had.Deleting {
		notes = append(notes, "It is being deleted already; this is the part that is not deleted yet.")
	}
	if had.Refused != "" {
		notes = append(notes, "It cannot be deleted now: "+had.Refused+".")
	}
	return operation{Title: "Delete run " + run.Name, Verb: "Delete permanently", Grave: true, Notes: notes,
		Call: call{http.MethodDelete, "/v1" + path, nil}, Back: path, Done: func([]byte) string { return "/" }}, err
}
