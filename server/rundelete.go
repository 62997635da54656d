package server

import (
	"context"
	"net/http"

	"relabel"
)

func (s *site) addRunDeletion() {
	add(s, operation(http.MethodGet, "/v1/runs/{id}/contents", "runs", "count-run", "Count what a run consists of",
		"What is deleted with the run, and why it cannot be deleted now, if so."), s.countRun)
	op := operation(http.MethodDelete, "/v1/runs/{id}", "runs", "delete-run", "Delete a run",
		"Removes the run with its iterations, trajectories, turns, calls, reviews, events and the entries of its exports, for good, and answers what that was. Files that its exports wrote stay where they are, and so do the taskset and the policies. "+
			"409 while an iteration runs, an export is built, or its trajectories are relabelled or graded again.")
	op.Errors = append(op.Errors, http.StatusConflict)
	add(s, op, s.deleteRun)
}

func (s *site) countRun(ctx context.Context, in *IDPath) (*of[relabel.RunContents], error) {
	return one(s.Store.CountRun(ctx, in.ID))
}

func (s *site) deleteRun(ctx context.Context, in *IDPath) (*of[relabel.RunContents], error) {
	contents, err := s.Store.CountRun(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return one(contents, s.Store.DeleteIdleRun(ctx, in.ID))
}

// contentMeanings says what the fields of RunContents mean.
var contentMeanings = map[string]string{
	"RunContents.iterations":   "Iterations.",
	"RunContents.trajectories": "Trajectories.",
	"RunContents.turns":        "Turns of the attempts that count.",
	"RunContents.calls":        "Model calls that are kept; of a run of more than 200 trajectories an estimate.",
	"RunContents.reviews":      "Reviews of its trajectories.",
	"RunContents.exports":      "Entries of exports; the files that they wrote stay.",
	"RunContents.bytes":        "Bytes of observations and actions as they are stored; of a run of more than 200 trajectories an estimate.",
	"RunContents.refused":      "Why it cannot be deleted now; absent where it can.",
}
