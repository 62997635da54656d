package server

import (
	"context"
	"net/http"

	"relabel"
	"relabel/api"
)

func (s *site) addTime() {
	add(s, operation(http.MethodGet, "/v1/runs/{id}/time", "runs", "show-run-time", "Show where a run's time went",
		"By phase, summed over ended attempts, for the run and for each of its iterations, with the critical-path efficiency of done trajectories."), s.showRunTime)
	add(s, operation(http.MethodGet, "/v1/trajectories/{id}/time", "trajectories", "show-trajectory-time", "Show where a trajectory's time went",
		"By phase, summed over its ended attempts; each turn has its own times."), s.showTrajectoryTime)
	add(s, operation(http.MethodGet, "/v1/overview", "runs", "show-overview", "Show the state of all work",
		"Trajectories by state, turns, labels, waiting jobs, and the runs that have a running iteration. It may be a few seconds old."), s.showOverview)
}

func (s *site) showRunTime(ctx context.Context, in *IDPath) (*of[api.RunTime], error) {
	its, err := s.Store.ListTimes(ctx, in.ID)
	view := api.RunTime{Iterations: orEmpty(its)}
	for _, it := range its {
		view.TimeReport = view.Add(it.TimeReport)
	}
	return one(view, err)
}

func (s *site) showTrajectoryTime(ctx context.Context, in *IDPath) (*of[relabel.TimeReport], error) {
	return one(s.Store.FindTime(ctx, in.ID))
}

func (s *site) showOverview(ctx context.Context, _ *struct{}) (*of[relabel.Overview], error) {
	return one(s.Overview(ctx))
}
