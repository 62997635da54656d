package server

import (
	"context"
	"net/http"

	"relabel"
	"relabel/api"
)

func (s *site) addRelabelings() {
	add(s, action("/v1/iterations/{id}/label", "runs", "label-iteration", "Begin an iteration's labelling",
		"For a run with deferred labels: starts labelling the trajectories whose rollout has ended now, even while others run. "+
			"Otherwise labelling starts when the iteration's last rollout ends."), s.labelIteration)
	add(s, operation(http.MethodGet, "/v1/iterations/{id}/batches", "runs", "list-batches", "List an iteration's batches of labels",
		"The batches sent to the teacher's batch endpoint, in the order of their creation. Only runs with labels=batch have any."), s.listBatches)
	add(s, operation(http.MethodPost, "/v1/trajectories/{id}/relabel", "trajectories", "relabel-trajectory", "Relabel a trajectory",
		"Requests another teacher's action at every stored state of a done trajectory, in addition to earlier labels. "+
			"A repeated request returns the same relabeling; if that has ended, missing answers are requested again."), s.relabelTrajectory)
	add(s, operation(http.MethodPost, "/v1/iterations/{id}/relabel", "runs", "relabel-iteration", "Relabel an iteration",
		"Relabels each done trajectory of the iteration. Failed and cancelled ones are not relabelled, because their states are never exported."), s.relabelIteration)
	add(s, operation(http.MethodGet, "/v1/iterations/{id}/relabelings", "runs", "show-relabelings", "Show an iteration's relabelings",
		"Their progress summed by policy, with each teacher's agreement with the first label."), s.relabelProgress)
	add(s, action("/v1/iterations/{id}/relabelings/cancel", "runs", "cancel-relabelings", "Cancel an iteration's relabelings",
		"Cancels those that have not ended, of one policy or of all. Received answers stay."), s.cancelRelabelings)
	add(s, operation(http.MethodGet, "/v1/relabelings", "trajectories", "list-relabelings", "List relabelings", "Matching relabelings, newest first."), s.listRelabelings)
	add(s, operation(http.MethodGet, "/v1/relabelings/{id}", "trajectories", "show-relabeling", "Show a relabeling", "One relabeling with its progress."), s.showRelabeling)
	add(s, action("/v1/relabelings/{id}/cancel", "trajectories", "cancel-relabeling", "Cancel a relabeling",
		"Cancels it. Received answers stay; a new request resumes it."), s.cancelRelabeling)
}

func (s *site) labelIteration(ctx context.Context, in *IDPath) (*of[api.IterationView], error) {
	if _, err := s.Store.LabelIteration(ctx, in.ID); err != nil {
		return nil, err
	}
	return s.viewIteration(ctx, in.ID)
}

func (s *site) listBatches(ctx context.Context, in *struct {
	IDPath
	api.PageQuery
}) (*of[api.Page[relabel.LabelBatch]], error) {
	if _, _, err := s.Store.FindIteration(ctx, in.ID); err != nil {
		return nil, err
	}
	batches, err := s.Store.ListBatches(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return pageOf(cut(batches, in.PageQuery, func(b relabel.LabelBatch) string { return b.ID.String() }))
}

func (s *site) relabelTrajectory(ctx context.Context, in *struct {
	IDPath
	Body api.NewRelabeling
}) (*of[relabel.Relabeling], error) {
	policy, err := s.findPolicy(ctx, in.Body.Policy)
	if err != nil {
		return nil, asField(err, "policy")
	}
	return one(s.Store.RelabelTrajectory(ctx, in.ID, policy.ID, in.Body.Priority))
}

func (s *site) relabelIteration(ctx context.Context, in *struct {
	IDPath
	Body api.NewRelabeling
}) (*of[relabel.RelabelProgress], error) {
	policy, err := s.findPolicy(ctx, in.Body.Policy)
	if err != nil {
		return nil, asField(err, "policy")
	}
	return one(s.Store.RelabelIteration(ctx, in.ID, policy.ID, in.Body.Priority))
}

func (s *site) relabelProgress(ctx context.Context, in *IDPath) (*of[api.Relabelings], error) {
	if _, _, err := s.Store.FindIteration(ctx, in.ID); err != nil {
		return nil, err
	}
	all, err := s.Store.RelabelProgress(ctx, in.ID)
	return one(api.Relabelings{Items: orEmpty(all)}, err)
}

func (s *site) cancelRelabelings(ctx context.Context, in *struct {
	IDPath
	Body api.CancelRelabelings
}) (*of[api.Cancelled], error) {
	if _, _, err := s.Store.FindIteration(ctx, in.ID); err != nil {
		return nil, err
	}
	var of *relabel.ID
	if in.Body.Policy != "" {
		policy, err := s.findPolicy(ctx, in.Body.Policy)
		if err != nil {
			return nil, asField(err, "policy")
		}
		of = &policy.ID
	}
	n, err := s.Store.CancelRelabelings(ctx, in.ID, of)
	return one(api.Cancelled{Cancelled: n}, err)
}

func (s *site) listRelabelings(ctx context.Context, in *struct {
	api.RelabelingQuery
	api.PageQuery
}) (*of[api.Page[relabel.Relabeling]], error) {
	q := &queryReader{}
	filter := relabel.RelabelFilter{RunID: q.id("run", in.Run), IterationID: q.id("iteration", in.Iteration),
		TrajectoryID: q.id("trajectory", in.Trajectory), PolicyID: q.id("policy", in.Policy), State: in.State}
	if q.err != nil {
		return nil, q.err
	}
	return pageOf(s.Store.ListRelabelings(ctx, filter, page(in.PageQuery)))
}

func (s *site) showRelabeling(ctx context.Context, in *IDPath) (*of[relabel.Relabeling], error) {
	return one(s.Store.FindRelabeling(ctx, in.ID))
}

func (s *site) cancelRelabeling(ctx context.Context, in *IDPath) (*of[relabel.Relabeling], error) {
	return one(s.Store.CancelRelabeling(ctx, in.ID))
}
