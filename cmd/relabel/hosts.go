package main

import (
	"context"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/cli"
	"relabel/envs"
	"relabel/envs/docker"
	"relabel/envs/fleet"
	"relabel/policy"
)

// imagesFrom returns the sources of images. secrets has the secrets of registries.
func imagesFrom(f cli.DockerFlags, secrets policy.Secrets) (images docker.Images, err error) {
	for _, text := range f.RegistryMirrors {
		m, err := docker.ParseMirror(text)
		if err != nil {
			return images, cli.OnFlag(err, "--registry-mirror")
		}
		images.Mirrors = append(images.Mirrors, m)
	}
	named, err := f.NamedRegistrySecrets()
	images.Credentials = docker.SecretCredentials(named, secrets.Find, docker.ConfigCredentials(f.RegistryConfig))
	return images, err
}

// openFleet connects to all named engines; common is their common configuration. With mayBeDown none needs
// to answer now.
func openFleet(ctx context.Context, f cli.DockerFlags, common docker.Config, mayBeDown bool, log zerolog.Logger) (*fleet.Fleet, error) {
	common.Sandboxd, common.Log = f.Sandboxd, log
	return fleet.Open(ctx, f.Docker, func(address string) (envs.Engine, int, error) {
		c := common
		c.Address = address
		host, err := docker.NewHost(c)
		if relabel.CodeOf(err) == relabel.CodeInvalid {
			err = cli.OnFlag(err, "--docker")
		}
		if err != nil {
			return nil, 0, err
		}
		return host, host.Slots(), nil
	}, mayBeDown, log)
}

// openHost connects to the engines of this process. It fails if none answers, unless the process can work
// without containers; a process that rolls out no task to repair has no engine.
func (p *process) openHost(ctx context.Context, f cli.WorkFlags) (*fleet.Fleet, error) {
	if f.Rollouts == 0 {
		return fleet.New(ctx, fleet.Config{Log: p.log})
	}
	instance, err := p.db.Instance(ctx)
	if err != nil {
		return nil, err
	}
	images, err := imagesFrom(f.DockerFlags, policy.Secrets{Dir: f.Secrets})
	if err != nil {
		return nil, err
	}
	images.AtOnce, images.Budget, images.Ledger = f.Pulls, int64(f.ImageBudget), p.db.Store
	common := docker.Config{Instance: instance, Silence: f.Silence, Images: images, MinFree: int64(f.MinFree)}
	return openFleet(ctx, f.DockerFlags, common, f.Searching(), p.log)
}
