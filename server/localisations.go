package server

import (
	"context"
	"net/http"

	"relabel"
	"relabel/api"
	"relabel/evaluation"
)

func (s *site) addLocalisations() {
	add(s, operation(http.MethodGet, "/v1/runs/{id}/localisation", "runs", "report-localisation", "Report how a run's iterations localise issues",
		"Recall@1, 3 and 5, MAP, MRR and nDCG@5 of ranked files and functions by iteration, with 95% intervals by a bootstrap over tasks, valid submissions, tool calls that did not fail, turns and score; "+
			"the same by language of the gold files; and each done iteration compared with another one on the tasks that both have. Only of tasks to localise issues."), s.reportLocalisation)
}

func (s *site) reportLocalisation(ctx context.Context, in *struct {
	IDPath
	api.LocalisationQuery
}) (*of[relabel.LocalisationReport], error) {
	if _, err := s.Store.FindRun(ctx, in.ID); err != nil {
		return nil, err
	}
	var with *relabel.ID
	if in.With != "" {
		id, err := relabel.ParseID("iteration", in.With)
		if err != nil {
			return nil, asField(err, "query.with")
		}
		if _, _, err := s.Store.FindIteration(ctx, id); err != nil {
			return nil, asField(err, "query.with")
		}
		with = &id
	}
	return one(evaluation.Localisation(ctx, s.Store, in.ID, with))
}
