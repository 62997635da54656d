package client

import (
	"context"

	"relabel"
)

// Failures reports a run's failure modes by iteration.
func (c *Client) Failures(ctx context.Context, run relabel.ID) (relabel.FailureReport, error) {
	return get[relabel.FailureReport](ctx, c, at("runs", run.String(), "failures"))
}

// Failure shows a trajectory's failure mode with the turns that show it.
func (c *Client) Failure(ctx context.Context, trajectory relabel.ID) (relabel.FailureFinding, error) {
	return get[relabel.FailureFinding](ctx, c, at("trajectories", trajectory.String(), "failure"))
}

// Disagreements reports where a run's student and teacher differ, by collect iteration.
func (c *Client) Disagreements(ctx context.Context, run relabel.ID) (relabel.DisagreementReport, error) {
	return get[relabel.DisagreementReport](ctx, c, at("runs", run.String(), "disagreements"))
}
