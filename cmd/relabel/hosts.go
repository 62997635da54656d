package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/envs/docker"
	"relabel/envs/fleet"
	"relabel/policy"
)

// dockerFlags say where sandboxes are made and where their images come from.
type dockerFlags struct {
	Docker          []string `env:"DOCKER_HOST" placeholder:"URL" help:"Docker engine of the sandboxes: unix:///path, tcp://host:port?tls=DIR or ssh://user@host, with ?slots=N where it is to hold N at once. Repeat it for several. Default: the local one."`
	Sandboxd        string   `env:"RELABEL_SANDBOXD" placeholder:"FILE" help:"The sandboxd binary. Default: the one beside relabel."`
	RegistryMirrors []string `name:"registry-mirror" env:"RELABEL_REGISTRY_MIRRORS" placeholder:"FROM=TO" help:"Pull images whose names begin with FROM (docker.io, docker.io/swebench) from TO instead; their names stay."`
	RegistryConfig  string   `env:"RELABEL_REGISTRY_CONFIG" placeholder:"FILE" help:"Docker's config.json with credentials for registries."`
	RegistrySecrets []string `name:"registry-secret" env:"RELABEL_REGISTRY_SECRETS" placeholder:"HOST=NAME" help:"Credentials for one registry: the secret NAME holds user:password."`
}

// imageFlags bound what images and sandboxes take of a disk, and how long a sandbox waits.
type imageFlags struct {
	Silence     time.Duration `default:"2m" env:"RELABEL_SILENCE" help:"Remove a sandbox after this long without contact from its worker."`
	MinFree     size          `default:"5GiB" env:"RELABEL_MIN_FREE" help:"Disk space to keep free where Docker and relabel store data. Below this no new work is claimed; 0 disables the check."`
	ImageBudget size          `default:"0" env:"RELABEL_IMAGE_BUDGET" help:"Disk space that images pulled by relabel may use on an engine; the least recently used are removed. 0: no limit."`
	Pulls       int           `default:"2" env:"RELABEL_PULLS" help:"Number of images pulled at once to an engine."`
}

// imagesFrom says where images come from. secrets is where the secrets of registries are.
func (f dockerFlags) imagesFrom(secrets policy.Secrets) (docker.Images, error) {
	var images docker.Images
	for _, text := range f.RegistryMirrors {
		m, err := docker.ParseMirror(text)
		if err != nil {
			return images, err
		}
		images.Mirrors = append(images.Mirrors, m)
	}
	named := map[string]string{}
	for _, text := range f.RegistrySecrets {
		registry, name, ok := strings.Cut(text, "=")
		if !ok || registry == "" || name == "" {
			return images, relabel.Errorf(relabel.CodeInvalid, "is not HOST=NAME, a registry and the name of a secret").On("--registry-secret")
		}
		if err := relabel.CheckSecretName("--registry-secret", name); err != nil {
			return images, err
		}
		named[registry] = name
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

// secretCredentials reads the credentials that a secret holds.
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

// openFleet makes one host of the engines that are named; common is what they share. An
// engine alone holds as many sandboxes as are asked for, unless its address says how many.
func (f dockerFlags) openFleet(ctx context.Context, common docker.Config, log zerolog.Logger) (*fleet.Fleet, error) {
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

// openHost connects to the engines that this process works on; it fails where none answers.
func openHost(ctx context.Context, db *database, f workFlags, log zerolog.Logger) (*fleet.Fleet, error) {
	instance, err := db.Instance(ctx)
	if err != nil {
		return nil, err
	}
	images, err := f.imagesFrom(policy.Secrets{Dir: f.Secrets})
	if err != nil {
		return nil, err
	}
	images.AtOnce, images.Budget, images.Ledger = f.Pulls, int64(f.ImageBudget), db.Store
	return f.openFleet(ctx, docker.Config{Instance: instance, Silence: f.Silence, Images: images, MinFree: int64(f.MinFree)}, log)
}
