package server

import (
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"relabel"
)

func (s *site) addRunDeletion() {
	add(s, operation(http.MethodGet, "/v1/runs/{id}/contents", "runs", "count-run", "Count a run's contents",
		"What is deleted with the run and, if it cannot be deleted now, why."), s.countRun)
	op := operation(http.MethodDelete, "/v1/runs/{id}", "runs", "delete-run", "Delete a run",
		"Permanently deletes the run with its iterations, trajectories, turns, calls, reviews, events and export records, and returns their counts. Files of its exports, the taskset and the policies stay. "+
			"A large run is deleted in the background: the answer is then 202 with deleting, and the run has a deleting_at and accepts no new work until it is gone. The deletion resumes after a restart of the server. "+
			"409 while an iteration runs, an export is built, or its trajectories are relabelled or graded again.")
	op.Errors = append(op.Errors, http.StatusConflict)
	contents := s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[relabel.RunContents](), true, "RunContents")
	op.Responses = map[string]*huma.Response{"202": {Description: "The run is being deleted.", Content: map[string]*huma.MediaType{"application/json": {Schema: contents}}}}
	add(s, op, s.deleteRun)
}

func (s *site) countRun(ctx context.Context, in *IDPath) (*of[relabel.RunContents], error) {
	return one(s.Store.CountRun(ctx, in.ID))
}

// deletionWait is how long a request waits for the deletion that it began.
const deletionWait = 3 * time.Second

// RunDeletion answers a deletion: with 200 if the run is deleted, with 202 while it is being
// deleted.
type RunDeletion struct {
	Status int
	Body   relabel.RunContents
}

func (s *site) deleteRun(ctx context.Context, in *IDPath) (*RunDeletion, error) {
	contents, err := s.Store.CountRun(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if err := s.Store.BeginDeletion(ctx, in.ID); err != nil {
		return nil, err
	}
	wait, end := context.WithTimeout(ctx, deletionWait)
	defer end()
	contents.Deleting, contents.Refused = false, ""
	if err := s.Store.FinishDeletion(wait, in.ID); err != nil {
		// The run is marked: the rest is deleted in the background.
		s.Log.Info().Err(err).Stringer("run", in.ID).Msg("deleting the run in the background")
		contents.Deleting = true
		return &RunDeletion{http.StatusAccepted, contents}, nil
	}
	return &RunDeletion{http.StatusOK, contents}, nil
}
