package docker

import (
	"fmt"
	"strconv"
	"time"

	"github.com/docker/docker/api/types/container"

	"relabel/envs"
)

// The labels that a sandbox's container bears.
const (
	labelInstance   = "relabel.instance"
	labelTrajectory = "relabel.trajectory"
	labelAttempt    = "relabel.attempt"
	labelPurpose    = "relabel.purpose"
	labelDeadline   = "relabel.deadline"
)

// bootstrap is what a container begins with: it takes sandboxd, $1 bytes of it, from
// standard input and becomes it. An image's own user may not write to /. Without a network
// the engine leaves the image's empty /etc/hosts as it is: tests need the name localhost.
const bootstrap = `[ -s /etc/hosts ] || { printf '127.0.0.1 localhost\n::1 localhost\n' >/etc/hosts; } 2>/dev/null
home=/relabel
mkdir -m 700 $home 2>/dev/null || home=$(mktemp -d) || exit 1
head -c "$1" >$home/sandboxd && chmod 700 $home/sandboxd && exec $home/sandboxd serve`

// containerConfig describes the program of a sandbox's container: no network, no log.
func (h *Host) containerConfig(spec envs.Spec) *container.Config {
	return &container.Config{
		Image:           spec.Image,
		Entrypoint:      []string{"/bin/sh", "-c", bootstrap, "sh", strconv.Itoa(len(h.sandboxd))},
		WorkingDir:      spec.Workdir,
		Env:             gitEnv,
		Labels:          labelsOf(h.instance, spec.Labels),
		NetworkDisabled: true,
		Healthcheck:     &container.HealthConfig{Test: []string{"NONE"}},
		// Only the standard input of the one who attached: when that one goes, it ends,
		// and sandboxd with it.
		OpenStdin: true, StdinOnce: true, AttachStdin: true, AttachStdout: true, AttachStderr: true,
	}
}

// gitEnv lets git work in a repository that another user owns.
var gitEnv = []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}

// hostConfig walls the container in. Seccomp, AppArmor and masked paths are the engine's
// defaults, which stand where nothing is said.
func hostConfig(limits envs.Limits, quota bool) *container.HostConfig {
	no := false
	config := &container.HostConfig{
		NetworkMode:  "none",
		IpcMode:      "private",
		CgroupnsMode: "private", // an engine on cgroup v1 would share the host's
		CapDrop:      []string{"ALL"},
		SecurityOpt:  []string{"no-new-privileges"},
		LogConfig:    container.LogConfig{Type: "none"}, // what sandboxd says is no log
		AutoRemove:   true,                              // when sandboxd ends, nobody else has to tidy
		// sandboxd is the init process: it takes in orphans. One in front of it would hold
		// the stream open to everyone in the container, through /proc/1/fd.
		Init:    &no,
		Runtime: limits.Runtime,
		Resources: container.Resources{
			Memory:     limits.MemoryBytes,
			MemorySwap: limits.MemoryBytes, // the sum of both: no swap
			NanoCPUs:   int64(limits.CPUs * 1e9),
			PidsLimit:  &limits.PIDs,
			// The size of one file, which counts where the layer itself has no limit; and no
			// core files.
			Ulimits: []*container.Ulimit{
				{Name: "fsize", Soft: limits.DiskBytes, Hard: limits.DiskBytes},
				{Name: "core", Soft: 0, Hard: 0},
			},
		},
	}
	if quota {
		config.StorageOpt = map[string]string{"size": strconv.FormatInt(limits.DiskBytes, 10)}
	}
	return config
}

// withDefaults fills in what a spec leaves open.
func withDefaults(l envs.Limits) envs.Limits {
	d := envs.DefaultLimits
	if l.MemoryBytes == 0 {
		l.MemoryBytes = d.MemoryBytes
	}
	if l.CPUs == 0 {
		l.CPUs = d.CPUs
	}
	if l.PIDs == 0 {
		l.PIDs = d.PIDs
	}
	if l.DiskBytes == 0 {
		l.DiskBytes = d.DiskBytes
	}
	return l
}

func labelsOf(instance string, l envs.Labels) map[string]string {
	labels := map[string]string{
		labelInstance: instance, labelTrajectory: l.Trajectory, labelAttempt: strconv.Itoa(l.Attempt),
		labelPurpose: l.Purpose, labelDeadline: "",
	}
	if !l.Deadline.IsZero() {
		labels[labelDeadline] = l.Deadline.UTC().Format(time.RFC3339)
	}
	return labels
}

// readLabels is the inverse of labelsOf. Broken labels of ours are an error.
func readLabels(labels map[string]string) (envs.Labels, error) {
	l := envs.Labels{Instance: labels[labelInstance], Trajectory: labels[labelTrajectory], Purpose: labels[labelPurpose]}
	var err error
	if l.Attempt, err = strconv.Atoi(labels[labelAttempt]); err != nil {
		return l, fmt.Errorf("label %s: %w", labelAttempt, err)
	}
	if deadline := labels[labelDeadline]; deadline != "" {
		if l.Deadline, err = time.Parse(time.RFC3339, deadline); err != nil {
			return l, fmt.Errorf("label %s: %w", labelDeadline, err)
		}
	}
	return l, nil
}
