package client

import (
	"context"
	"net/url"

	"relabel"
	"relabel/api"
)

// Evaluations reports a run's evaluations.
func (c *Client) Evaluations(ctx context.Context, run relabel.ID) (relabel.EvaluationReport, error) {
	return get[relabel.EvaluationReport](ctx, c, at("runs", run.String(), "report"))
}

// Compare compares an evaluation with another one on the same benchmark.
func (c *Client) Compare(ctx context.Context, iteration, with relabel.ID) (relabel.Comparison, error) {
	return get[relabel.Comparison](ctx, c, at("iterations", iteration.String(), "comparison")+"?"+url.Values{"with": {with.String()}}.Encode())
}

// Scaling compares runs by the training of their students.
func (c *Client) Scaling(ctx context.Context, query api.ScalingQuery) (relabel.ScalingReport, error) {
	parameters := url.Values{"runs": query.Runs}
	if query.Benchmark != "" {
		parameters.Set("benchmark", query.Benchmark)
	}
	return get[relabel.ScalingReport](ctx, c, under(at("scaling"), parameters))
}

// Divergence compares the students of runs with a teacher.
func (c *Client) Divergence(ctx context.Context, query api.DivergenceQuery) (relabel.DivergenceReport, error) {
	parameters := url.Values{"runs": query.Runs}
	if query.Policy != "" {
		parameters.Set("policy", query.Policy)
	}
	return get[relabel.DivergenceReport](ctx, c, under(at("divergence"), parameters))
}

// Localisation reports how a run's iterations localise issues.
func (c *Client) Localisation(ctx context.Context, run relabel.ID, query api.LocalisationQuery) (relabel.LocalisationReport, error) {
	parameters := url.Values{}
	if query.With != "" {
		parameters.Set("with", query.With)
	}
	return get[relabel.LocalisationReport](ctx, c, under(at("runs", run.String(), "localisation"), parameters))
}
