package server

import (
	"context"
	"net/http"

	"relabel/api"
)

func (s *site) addDivergences() {
	add(s, operation(http.MethodGet, "/v1/runs/{id}/divergence", "runs", "show-divergence", "Compare a run's students with a teacher",
		"The reverse KL divergence of each iteration's student from a teacher on the tokens that the student sampled, from the scores of both, "+
			"and the agreement of their actions by tool. The first request after new scores reads those of their trajectories, which can take minutes; what it computed is kept."), s.showDivergence)
}

func (s *site) showDivergence(ctx context.Context, in *struct {
	IDPath
	api.DivergenceQuery
}) (*of[api.Divergences], error) {
	run, err := s.Store.FindRun(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	teacher := run.TeacherID
	if in.Policy != "" {
		p, err := s.findPolicy(ctx, in.Policy)
		if err != nil {
			return nil, asField(err, "policy")
		}
		teacher = p.ID
	}
	all, err := s.Store.ListDivergences(ctx, in.ID, teacher)
	return one(api.Divergences{Items: orEmpty(all)}, err)
}
