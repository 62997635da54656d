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

// home is where sandboxd keeps its own files in a container: a file system in memory that
// commands can neither enter, rename nor unmount.
const home = "/relabel"

// homeOptions mount it. It holds sandboxd, a copy of git and small files.
const homeOptions = "rw,exec,nosuid,nodev,mode=0700,size=96m,uid=%d,gid=%[1]d"

// sandboxdUser is inside.UserID, whom sandboxd runs as.
const sandboxdUser = 63271

// grantedCapabilities are for sandboxd alone, which takes them from every command that it
// starts. With them it changes to its own user, starts and ends commands of another, and reads
// and removes what they left, whatever its mode.
var grantedCapabilities = []string{"SETUID", "SETGID", "SETPCAP", "KILL", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER"}

// bootstrap is what a container begins with: it takes sandboxd, $1 bytes of it, from
// standard input and becomes it. Without a network the engine leaves the image's empty
// /etc/hosts as it is: tests need the name localhost.
const bootstrap = `[ -s /etc/hosts ] || { printf '127.0.0.1 localhost\n::1 localhost\n' >/etc/hosts; } 2>/dev/null
head -c "$1" >` + home + `/sandboxd && chmod 700 ` + home + `/sandboxd && exec ` + home + `/sandboxd serve`

// containerConfig describes the program of a sandbox's container: no network, no log.
func (h *Host) containerConfig(spec envs.Spec) *container.Config {
	return &container.Config{
		Image:           spec.Image,
		Entrypoint:      []string{"/bin/sh", "-c", bootstrap, "sh", strconv.Itoa(len(h.sandboxd))},
		WorkingDir:      spec.Workdir,
		User:            "0", // sandboxd's beginning; commands run as the image's user
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

// quotaOf is the engine's bound for what commands may write so many bytes of. It is larger by a
// quarter: sandboxd, which ends the commands, is to find out before a write fails.
func quotaOf(bytes int64) int64 { return bytes + bytes/4 }

// hostConfig walls the container in. AppArmor and read-only paths are the engine's defaults,
// which stand where nothing is said.
func hostConfig(limits envs.Limits, quota bool) *container.HostConfig {
	no := false
	config := &container.HostConfig{
		NetworkMode:  "none",
		IpcMode:      "private",
		CgroupnsMode: "private", // an engine on cgroup v1 would share the host's
		CapDrop:      []string{"ALL"},
		CapAdd:       grantedCapabilities,
		SecurityOpt:  []string{"no-new-privileges", "seccomp=" + seccompProfile},
		MaskedPaths:  maskedPaths,
		Tmpfs:        map[string]string{home: fmt.Sprintf(homeOptions, sandboxdUser)},
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
		config.StorageOpt = map[string]string{"size": strconv.FormatInt(quotaOf(limits.DiskBytes), 10)}
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
