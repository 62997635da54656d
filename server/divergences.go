package server

import (
	"context"
	"fmt"
	"net/http"

	"relabel"
	"relabel/api"
	"relabel/evaluation"
)

func (s *site) addDivergences() {
	const of = "The reverse KL divergence of each iteration's student from a teacher on the tokens that the student sampled, from the scores of both, " +
		"and the agreement of their actions by tool. The first request after new scores reads those of their trajectories, which can take minutes; what it computed is kept."
	add(s, operation(http.MethodGet, "/v1/runs/{id}/divergence", "runs", "show-divergence", "Compare a run's students with a teacher", of), s.showDivergence)
	add(s, operation(http.MethodGet, "/v1/divergence", "runs", "compare-divergence", "Compare the students of runs with a teacher", of), s.compareDivergence)
}

func (s *site) showDivergence(ctx context.Context, in *struct {
	IDPath
	api.DivergenceTeacher
}) (*of[relabel.RunDivergence], error) {
	run, err := s.Store.FindRun(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	policy, err := s.comparedPolicy(ctx, in.Policy)
	if err != nil {
		return nil, err
	}
	report, err := evaluation.DivergenceOf(ctx, s.Store, run, policy)
	return one(report, err)
}

func (s *site) compareDivergence(ctx context.Context, in *api.DivergenceQuery) (*of[relabel.DivergenceReport], error) {
	runs, err := s.findRuns(ctx, in.Runs)
	if err != nil {
		return nil, err
	}
	policy, err := s.comparedPolicy(ctx, in.Policy)
	if err != nil {
		return nil, err
	}
	return one(evaluation.Divergence(ctx, s.Store, runs, policy))
}

// comparedPolicy is the policy with this name; nil without one.
func (s *site) comparedPolicy(ctx context.Context, name string) (*relabel.ID, error) {
	if name == "" {
		return nil, nil
	}
	p, err := s.findPolicy(ctx, name)
	if err != nil {
		return nil, asField(err, "policy")
	}
	return &p.ID, nil
}

// findRuns finds the runs that a query names.
func (s *site) findRuns(ctx context.Context, words []string) (runs []relabel.Run, err error) {
	for i, word := range words {
		run, err := s.findRun(ctx, word)
		if err != nil {
			return nil, asField(err, fmt.Sprintf("query.runs[%d]", i))
		}
		runs = append(runs, run)
	}
	return runs, nil
}
