package cli

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"time"

	"relabel"
)

// WorkFlags bound the work of a process.
type WorkFlags struct {
	Rollouts int           `default:"4" env:"RELABEL_ROLLOUTS" help:"Trajectories of tasks to repair rolled out at once, each in a container. 0: none, with --repositories."`
	Prefetch int           `default:"1" env:"RELABEL_PREFETCH" help:"Extra sandboxes to prepare while all slots are busy."`
	Lease    time.Duration `default:"40s" env:"RELABEL_LEASE" help:"Lease length: a worker silent for this long loses its trajectories."`
	Traces   string        `default:"off" enum:"off,spans,content" env:"RELABEL_TRACES" help:"Send rollouts as OpenTelemetry spans to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names: off, spans (without texts), or content (with prompts, answers and outputs)."`
	Grace    time.Duration `default:"60s" env:"RELABEL_GRACE" help:"On shutdown, how long running turns may take before they are cancelled."`
	SearchFlags
	RetentionFlags
	DockerFlags
	ImageFlags
	SecretFlags
	ResourceFlags
}

// RetentionFlags bound the time or size of what a worker purges.
type RetentionFlags struct {
	KeepEvents time.Duration `default:"720h" env:"RELABEL_KEEP_EVENTS" help:"How long events are kept."`
	KeepCalls  time.Duration `default:"0" env:"RELABEL_KEEP_CALLS" help:"How long individual model calls are kept; their usage stays counted. 0: forever."`
	KeepAudit  time.Duration `default:"8760h" env:"RELABEL_KEEP_AUDIT" help:"How long the audit log is kept. 0: forever."`

	CodeRecordsSize Size `default:"1GiB" env:"RELABEL_CODE_RECORDS_SIZE" help:"Space in the database for what is known of source files; the least recently used are deleted. 0: no limit."`
}

// SecretFlags name the folder with the keys of model endpoints.
type SecretFlags struct {
	Secrets string `env:"RELABEL_SECRETS" placeholder:"DIR" help:"Folder with one file for each secret that policies name."`
}

// DockerFlags name the engines of sandboxes and the sources of their images.
type DockerFlags struct {
	Docker          []string `env:"DOCKER_HOST" placeholder:"URL" help:"Docker engine of the sandboxes: unix:///path, tcp://host:port?tls=DIR or ssh://user@host, with ?slots=N to limit its sandboxes to N. May be repeated. Default: the local one."`
	Sandboxd        string   `env:"RELABEL_SANDBOXD" placeholder:"FILE" help:"The sandboxd binary. Default: the one in relabel's folder."`
	RegistryMirrors []string `name:"registry-mirror" env:"RELABEL_REGISTRY_MIRRORS" placeholder:"FROM=TO" help:"Pull images whose names begin with FROM (docker.io, docker.io/swebench) from TO instead. Their names do not change."`
	RegistryConfig  string   `env:"RELABEL_REGISTRY_CONFIG" placeholder:"FILE" help:"Docker's config.json with credentials for registries."`
	RegistrySecrets []string `name:"registry-secret" env:"RELABEL_REGISTRY_SECRETS" placeholder:"HOST=NAME" help:"Credentials for one registry: the secret NAME contains user:password."`
}

// ImageFlags bound the disk space of images and sandboxes, and the life of silent sandboxes.
type ImageFlags struct {
	Silence     time.Duration `default:"2m" env:"RELABEL_SILENCE" help:"Remove a sandbox after this long without contact from its worker."`
	MinFree     Size          `default:"5GiB" env:"RELABEL_MIN_FREE" help:"Disk space to keep free where Docker and relabel store data. Below this no new work is claimed; 0 disables the check."`
	ImageBudget Size          `default:"0" env:"RELABEL_IMAGE_BUDGET" help:"Disk space that images pulled by relabel may use on an engine; the least recently used are removed. 0: no limit."`
	Pulls       int           `default:"2" env:"RELABEL_PULLS" help:"Number of images pulled at once to an engine."`
}

const (
	minLease   = 3 * time.Second  // leaves time for some renewals
	minSilence = 10 * time.Second // leaves time for some pings, on a busy machine too
)

// CheckWork refuses values that a worker cannot use.
func (f WorkFlags) CheckWork() error {
	switch {
	case f.Rollouts < 0:
		return relabel.Errorf(relabel.CodeInvalid, "is %d; it must not be below 0", f.Rollouts).On("--rollouts")
	case f.Rollouts == 0 && !f.Searching():
		return relabel.Errorf(relabel.CodeInvalid, "is 0; it must be at least 1 without --repositories; use serve --no-work to run no worker").On("--rollouts")
	case f.Prefetch < 0:
		return relabel.Errorf(relabel.CodeInvalid, "is %d; it must not be below 0", f.Prefetch).On("--prefetch")
	case f.Lease < minLease:
		return relabel.Errorf(relabel.CodeInvalid, "is %s; it must be at least %s", f.Lease, minLease).On("--lease")
	case f.Grace < 0:
		return relabel.Errorf(relabel.CodeInvalid, "is %s; it must not be below 0", f.Grace).On("--grace")
	case f.Silence < minSilence:
		return relabel.Errorf(relabel.CodeInvalid, "is %s; it must be at least %s", f.Silence, minSilence).On("--silence")
	case f.Pulls < 1:
		return relabel.Errorf(relabel.CodeInvalid, "is %d; it must be at least 1", f.Pulls).On("--pulls")
	}
	return errors.Join(f.SearchFlags.check(), f.RetentionFlags.check(), f.SecretFlags.check())
}

// check refuses times that are too short to be intended.
func (f RetentionFlags) check() error {
	for _, c := range []struct {
		flag    string
		keep    time.Duration
		forever bool
	}{{"--keep-events", f.KeepEvents, false}, {"--keep-calls", f.KeepCalls, true}, {"--keep-audit", f.KeepAudit, true}} {
		if c.keep < time.Minute && !(c.forever && c.keep == 0) {
			return relabel.Errorf(relabel.CodeInvalid, "is %s; it must be at least a minute", c.keep).On(c.flag)
		}
	}
	return nil
}

// check refuses a missing folder: each secret in it would be missing.
func (f SecretFlags) check() error {
	if f.Secrets == "" {
		return nil
	}
	info, err := os.Stat(f.Secrets)
	if err == nil && !info.IsDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return relabel.Errorf(relabel.CodeInvalid, "the folder of secrets cannot be read").On("--secrets").Because(err)
	}
	return nil
}

// NamedRegistrySecrets returns the name of the secret of each registry in --registry-secret.
func (f DockerFlags) NamedRegistrySecrets() (map[string]string, error) {
	named := map[string]string{}
	for _, text := range f.RegistrySecrets {
		registry, name, ok := strings.Cut(text, "=")
		if !ok || registry == "" || name == "" {
			return nil, relabel.Errorf(relabel.CodeInvalid, "is not HOST=NAME, a registry and the name of a secret").On("--registry-secret")
		}
		if err := relabel.CheckSecretName("--registry-secret", name); err != nil {
			return nil, err
		}
		named[registry] = name
	}
	return named, nil
}
