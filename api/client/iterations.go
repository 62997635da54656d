package client

import (
	"context"
	"net/url"

	"relabel"
	"relabel/api"
)

// StartIteration starts a run's next iteration.
func (c *Client) StartIteration(ctx context.Context, run relabel.ID, in api.NewIteration) (api.IterationView, error) {
	return post[api.IterationView](ctx, c, at("runs", run.String(), "iterations"), in)
}

// Iterations lists a run's iterations in the order they were started.
func (c *Client) Iterations(ctx context.Context, run relabel.ID) ([]api.IterationView, error) {
	return list[api.IterationView](ctx, c, at("runs", run.String(), "iterations"), nil)
}

// Iteration returns an iteration with its progress.
func (c *Client) Iteration(ctx context.Context, id relabel.ID) (api.IterationView, error) {
	return get[api.IterationView](ctx, c, at("iterations", id.String()))
}

// IterationWeights lists the checks of the weights of an iteration's student, newest first.
func (c *Client) IterationWeights(ctx context.Context, id relabel.ID) (api.WeightChecks, error) {
	return get[api.WeightChecks](ctx, c, at("iterations", id.String(), "weights"))
}

// Draw returns what an iteration rolls out.
func (c *Client) Draw(ctx context.Context, id relabel.ID) (relabel.Draw, error) {
	return get[relabel.Draw](ctx, c, at("iterations", id.String(), "draw"))
}

// ResumeIteration ends the pause of an iteration.
func (c *Client) ResumeIteration(ctx context.Context, id relabel.ID, in api.NewResume) (api.IterationView, error) {
	return post[api.IterationView](ctx, c, at("iterations", id.String(), "resume"), in)
}

// CancelIteration cancels an iteration.
func (c *Client) CancelIteration(ctx context.Context, id relabel.ID) (api.IterationView, error) {
	return post[api.IterationView](ctx, c, at("iterations", id.String(), "cancel"), nil)
}

// PauseIteration pauses an iteration.
func (c *Client) PauseIteration(ctx context.Context, id relabel.ID, in api.NewPause) (api.IterationView, error) {
	return post[api.IterationView](ctx, c, at("iterations", id.String(), "pause"), in)
}

// RetryIteration queues an iteration's failed trajectories once more.
func (c *Client) RetryIteration(ctx context.Context, id relabel.ID, in api.Retry) (api.RetryView, error) {
	return post[api.RetryView](ctx, c, at("iterations", id.String(), "retry"), in)
}

// LabelIteration starts the labelling that a run defers.
func (c *Client) LabelIteration(ctx context.Context, id relabel.ID) (api.IterationView, error) {
	return post[api.IterationView](ctx, c, at("iterations", id.String(), "label"), nil)
}

// Batches lists an iteration's batches of labels.
func (c *Client) Batches(ctx context.Context, id relabel.ID) ([]relabel.LabelBatch, error) {
	return list[relabel.LabelBatch](ctx, c, at("iterations", id.String(), "batches"), nil)
}

// RelabelIteration asks another teacher at the states of an iteration's finished trajectories.
func (c *Client) RelabelIteration(ctx context.Context, id relabel.ID, in api.NewRelabeling) (relabel.RelabelProgress, error) {
	return post[relabel.RelabelProgress](ctx, c, at("iterations", id.String(), "relabel"), in)
}

// RelabelProgress sums an iteration's relabelings up by policy.
func (c *Client) RelabelProgress(ctx context.Context, id relabel.ID) (api.Relabelings, error) {
	return get[api.Relabelings](ctx, c, at("iterations", id.String(), "relabelings"))
}

// CancelRelabelings cancels an iteration's relabelings, of one policy or of all.
func (c *Client) CancelRelabelings(ctx context.Context, id relabel.ID, in api.CancelRelabelings) (api.Cancelled, error) {
	return post[api.Cancelled](ctx, c, at("iterations", id.String(), "relabelings", "cancel"), in)
}

// Relabelings lists relabelings, newest first. filter takes run, iteration, trajectory, policy and state.
func (c *Client) Relabelings(ctx context.Context, filter url.Values) ([]relabel.Relabeling, error) {
	return list[relabel.Relabeling](ctx, c, at("relabelings"), filter)
}

// Relabeling returns a relabeling.
func (c *Client) Relabeling(ctx context.Context, id relabel.ID) (relabel.Relabeling, error) {
	return get[relabel.Relabeling](ctx, c, at("relabelings", id.String()))
}

// CancelRelabeling cancels a relabeling.
func (c *Client) CancelRelabeling(ctx context.Context, id relabel.ID) (relabel.Relabeling, error) {
	return post[relabel.Relabeling](ctx, c, at("relabelings", id.String(), "cancel"), nil)
}
