package server

import (
	"context"
	"net/http"

	"relabel"
	"relabel/api"
	"relabel/labelrule"
)

func (s *site) addLabelRules() {
	add(s, operation(http.MethodGet, "/v1/runs/{id}/label-rules", "runs", "simulate-labels", "Simulate label rules on a run's labels",
		"What rules for asking the teacher would have saved (calls, tokens, cost) and lost (labels, and among them those that differ from the student's action) in the done trajectories of the run's collect iterations, "+
			"with the weights of the kept labels. The decisions are those that collection with the rule would have taken at the stored states, by the run's seed. "+
			"A rule by uncertainty reads the log-probabilities of all actions of the student. In a URL, + is written %2B."), s.simulateLabels)
}

func (s *site) simulateLabels(ctx context.Context, in *struct {
	IDPath
	api.LabelRuleQuery
}) (*of[relabel.LabelSimulation], error) {
	run, err := s.Store.FindRun(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return one(labelrule.Report(ctx, s.Store, run, in.Rules))
}
