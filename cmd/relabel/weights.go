package main

import (
	"context"

	"relabel"
	"relabel/policy"
)

// weights checks and loads the weights of policies.
type weights struct{ options policy.Options }

// weightsBy returns what checks and loads weights with the keys of a folder.
func (p *process) weightsBy(secrets string) weights {
	return weights{policy.Options{Secrets: policy.Secrets{Dir: secrets}, Transport: p.rule.Transport}}
}

// Fingerprints implements server.Weights, as do the other methods.
func (w weights) Fingerprints(ctx context.Context, p relabel.Policy) ([]relabel.Fingerprint, error) {
	return policy.TakeFingerprints(ctx, p, w.options)
}

func (w weights) Load(ctx context.Context, p relabel.Policy, of relabel.LoadedWeights) (model string, fresh []string, err error) {
	loaded, err := policy.Load(ctx, p, of, w.options)
	return loaded.Model, loaded.New, err
}

func (w weights) RollBack(ctx context.Context, p relabel.Policy, of relabel.LoadedWeights, bases []string) error {
	return policy.RollBack(ctx, p, of, bases, w.options)
}

func (w weights) LoadedAdapters(ctx context.Context, p relabel.Policy) (map[string][]string, error) {
	return policy.LoadedAdapters(ctx, p, w.options)
}

func (w weights) UnloadAdapter(ctx context.Context, p relabel.Policy, base, name string) error {
	return policy.UnloadAdapter(ctx, p, base, name, w.options)
}
