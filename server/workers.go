package server

import (
	"context"
	"net/http"
	"relabel/api"

	"relabel"
)

func (s *site) addWorkers() {
	add(s, operation(http.MethodGet, "/v1/workers", "scheduling", "list-workers", "List workers",
		"The processes that roll trajectories out, by machine, with what they hold now. One that ended in order is gone from the list; one that has not been heard of for half a minute is silent, and forgotten after a day."), s.listWorkers)
}

// listWorkers returns a page of all workers: there is only one per process.
func (s *site) listWorkers(ctx context.Context, in *api.PageQuery) (*of[api.Page[relabel.Worker]], error) {
	workers, err := s.Store.ListWorkers(ctx)
	if err != nil {
		return nil, err
	}
	return pageOf(cut(workers, *in, func(w relabel.Worker) string { return w.Name }))
}
