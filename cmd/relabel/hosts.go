package main

import (
	"context"
	"errors"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/cli"
	"relabel/envs/docker"
	"relabel/envs/fleet"
	"relabel/policy"
)

// imagesFrom returns the sources of images. secrets has the secrets of registries.
func imagesFrom(f cli.DockerFlags, secrets policy.Secrets) (docker.Images, error) {
	var images docker.Images
	for _, text := range f.RegistryMirrors {
		m, err := docker.ParseMirror(text)
		if err != nil {
			return images, err
		}
		images.Mirrors = append(images.Mirrors, m)
	}
	named, err := f.NamedRegistrySecrets()
	if err != nil {
		return images, err
	}
	images.Credentials = func(registry string) (docker.Credentials, bool, error) {
		if name := named[registry]; name != "" {
			return secretCredentials(secrets, name)
		}
		if f.RegistryConfig == "" {
			return docker.Credentials{}, false, nil
		}
		return docker.ConfigCredentials(f.RegistryConfig)(registry)
	}
	return images, nil
}

// secretCredentials reads credentials from a secret.
func secretCredentials(secrets policy.Secrets, name string) (docker.Credentials, bool, error) {
	value, err := secrets.Find(name)
	if err != nil {
		return docker.Credentials{}, false, err
	}
	c, found, err := docker.ParseCredentials(value)
	if err != nil {
		err = relabel.Errorf(relabel.CodeInvalid, "the secret %s must hold user:password", name)
	}
	return c, found, err
}

// openFleet connects to all named engines; common is their common configuration. A single engine
// has unlimited slots unless its address limits them.
func openFleet(ctx context.Context, f cli.DockerFlags, common docker.Config, log zerolog.Logger) (*fleet.Fleet, error) {
	addresses := f.Docker
	if len(addresses) == 0 {
		addresses = []string{""}
	}
	common.Sandboxd, common.Log = f.Sandboxd, log
	var members []fleet.Member
	for _, address := range addresses {
		c := common
		c.Address = address
		host, err := docker.NewHost(c)
		if err != nil {
			return nil, errors.Join(err, closeAll(members))
		}
		slots := host.Slots()
		if slots == 0 && len(addresses) == 1 {
			slots = -1
		}
		members = append(members, fleet.Member{Engine: host, Slots: slots})
	}
	return fleet.New(ctx, fleet.Config{Members: members, Log: log})
}

func closeAll(members []fleet.Member) error {
	var errs []error
	for _, m := range members {
		errs = append(errs, m.Engine.Close())
	}
	return errors.Join(errs...)
}

// openHost connects to the engines of this process. It fails if none answers.
func openHost(ctx context.Context, db *database, f cli.WorkFlags, log zerolog.Logger) (*fleet.Fleet, error) {
	instance, err := db.Instance(ctx)
	if err != nil {
		return nil, err
	}
	images, err := imagesFrom(f.DockerFlags, policy.Secrets{Dir: f.Secrets})
	if err != nil {
		return nil, err
	}
	images.AtOnce, images.Budget, images.Ledger = f.Pulls, int64(f.ImageBudget), db.Store
	return openFleet(ctx, f.DockerFlags, docker.Config{Instance: instance, Silence: f.Silence, Images: images, MinFree: int64(f.MinFree)}, log)
}
