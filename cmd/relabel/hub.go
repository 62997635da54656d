package main

import (
	"context"
	"os"
	"path/filepath"

	"relabel/cli"
	"relabel/outbound"
	"relabel/shard"
)

// destinations returns the access to destinations that this machine's environment configures.
func destinations() (d shard.Destinations, err error) {
	f, err := cli.EnvironmentResources()
	if err != nil {
		return d, err
	}
	rule, err := outbound.NewRule(f.AllowAddress)
	return shard.Destinations{Transport: rule.Transport(), Endpoints: f.DestinationEndpoint, CloudKeys: f.CloudCredentials}, err
}

// agent is how this program introduces itself.
func agent() string { return "relabel/" + version }

// fetchExport fetches an export from the Hugging Face Hub into the user's cache folder.
func fetchExport(ctx context.Context, place string, only func(name string) bool) (dir, at string, err error) {
	d, err := destinations()
	if err != nil {
		return "", "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", "", err
	}
	return d.Fetch(ctx, agent(), place, filepath.Join(cache, "relabel", "hub"), only)
}

// pushExport pushes an export to the Hugging Face Hub.
func pushExport(ctx context.Context, o cli.PushOptions) (place string, err error) {
	d, err := destinations()
	if err != nil {
		return "", err
	}
	return d.Push(ctx, shard.Push{Dir: o.Dir, Destination: o.Destination, Allow: o.Allow, Agent: agent(), Sent: o.Sent})
}
