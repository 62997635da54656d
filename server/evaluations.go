package server

import (
	"context"
	"net/http"

	"relabel"
	"relabel/api"
	"relabel/evaluation"
)

func (s *site) addEvaluations() {
	add(s, operation(http.MethodGet, "/v1/runs/{id}/report", "runs", "report-run", "Report a run's evaluations",
		"Each evaluation with the shares of submitted and resolved trajectories among the graded ones and their 95% intervals (Wilson's with one generation per task, else clustered by task), by repository too, "+
			"and, if it is done, compared with the one before it that is done on the same benchmark. Trajectories that the infrastructure failed are not graded; they are counted."), s.reportRun)
	add(s, operation(http.MethodGet, "/v1/iterations/{id}/comparison", "iterations", "compare-evaluations", "Compare two evaluations",
		"Compares an evaluation with another one on the same benchmark, of any run, task by task: exact McNemar test, and a bootstrap interval of the difference."), s.compareEvaluations)
}

func (s *site) reportRun(ctx context.Context, in *IDPath) (*of[relabel.EvaluationReport], error) {
	if _, err := s.Store.FindRun(ctx, in.ID); err != nil {
		return nil, err
	}
	all, err := s.Store.ListIterations(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return one(evaluation.Report(ctx, s.Store, in.ID, all))
}

func (s *site) compareEvaluations(ctx context.Context, in *struct {
	IDPath
	api.ComparisonQuery
}) (*of[relabel.Comparison], error) {
	a, _, err := s.Store.FindIteration(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	b, _, err := s.Store.FindIteration(ctx, in.With)
	if err != nil {
		return nil, asField(err, "query.with")
	}
	return one(evaluation.CompareStored(ctx, s.Store, a, b))
}
