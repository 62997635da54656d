package client

import (
	"context"

	"relabel"
	"relabel/api"
)

// CreatePolicy stores a policy, or a new version of one.
func (c *Client) CreatePolicy(ctx context.Context, in api.NewPolicy) (relabel.Policy, error) {
	return post[relabel.Policy](ctx, c, at("policies"), in)
}

// Policies lists all versions of all policies, newest first.
func (c *Client) Policies(ctx context.Context) ([]relabel.Policy, error) {
	return list[relabel.Policy](ctx, c, at("policies"), nil)
}

// Policy returns a policy by its id, its name (the newest version) or name@version.
func (c *Client) Policy(ctx context.Context, word string) (relabel.Policy, error) {
	return get[relabel.Policy](ctx, c, at("policies", word))
}

// LoadWeights loads weights into a policy's servers and returns its next version.
func (c *Client) LoadWeights(ctx context.Context, policy string, in api.NewWeights) (api.LoadedPolicy, error) {
	return post[api.LoadedPolicy](ctx, c, at("policies", policy, "load"), in)
}

// Models lists the models that answered for a policy.
func (c *Client) Models(ctx context.Context, policy string) ([]relabel.ModelSeen, error) {
	return list[relabel.ModelSeen](ctx, c, at("policies", policy, "models"), nil)
}

// PolicyWeights lists the checks of a policy's weights, newest first.
func (c *Client) PolicyWeights(ctx context.Context, policy string) (api.WeightChecks, error) {
	return get[api.WeightChecks](ctx, c, at("policies", policy, "weights"))
}

// Training sums up what trained a policy.
func (c *Client) Training(ctx context.Context, policy string) (relabel.Training, error) {
	return get[relabel.Training](ctx, c, at("policies", policy, "training"))
}
