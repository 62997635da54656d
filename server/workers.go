package server

import (
	"context"
	"net/http"

	"relabel"
	"relabel/api"
)

func (s *site) addWorkers() {
	add(s, operation(http.MethodGet, "/v1/workers", "scheduling", "list-workers", "List workers",
		"The worker processes by machine, with the trajectories that they hold. A worker that stopped in order disappears; one without a heartbeat for half a minute is silent, and is removed after a day."), s.listWorkers)
}

// listWorkers returns a page of all workers: there is only one per process.
func (s *site) listWorkers(ctx context.Context, in *api.PageQuery) (*of[api.Page[relabel.Worker]], error) {
	workers, err := s.Store.ListWorkers(ctx)
	if err != nil {
		return nil, err
	}
	return pageOf(cut(workers, *in, func(w relabel.Worker) string { return w.Name }))
}
