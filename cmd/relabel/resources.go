package main

import (
	"relabel/cli"
	"relabel/outbound"
	"relabel/shard"
	"relabel/shard/tokenizers"
)

// resources are what this process may use of its surroundings for its clients.
type resources struct {
	tokenizers   *tokenizers.Opener
	rule         outbound.Rule // of addresses
	destinations shard.Destinations
}

// checkResources refuses flags that openResources cannot use.
func checkResources(f cli.ResourceFlags) error {
	for _, endpoint := range f.DestinationEndpoint {
		if err := shard.CheckEndpoint(endpoint); err != nil {
			return err
		}
	}
	if err := f.CheckTokenizers(); err != nil {
		return err
	}
	_, err := outbound.NewRule(f.AllowAddress)
	return err
}

// openResources returns the resources. CodeInvalid if checkResources refuses the flags.
func openResources(f cli.ResourceFlags, db *database) (r resources, err error) {
	if err := checkResources(f); err != nil {
		return r, err
	}
	if r.rule, err = outbound.NewRule(f.AllowAddress); err != nil {
		return r, err
	}
	r.destinations = shard.Destinations{Transport: r.rule.Transport(), Endpoints: f.DestinationEndpoint, CloudKeys: f.CloudCredentials}
	r.tokenizers, err = tokenizers.NewOpener(db.Store, f.Tokenizers)
	return r, err
}

// environmentRule is the address rule that serve and worker would have with this environment,
// for a command that connects to endpoints.
func environmentRule() (outbound.Rule, error) {
	f, err := cli.EnvironmentResources()
	if err != nil {
		return outbound.Rule{}, err
	}
	return outbound.NewRule(f.AllowAddress)
}
