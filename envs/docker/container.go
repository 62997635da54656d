package docker

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/docker/docker/api/types/container"

	"relabel/envs"
)

// The labels of a sandbox's container.
const (
	labelInstance   = "relabel.instance"
	labelTrajectory = "relabel.trajectory"
	labelAttempt    = "relabel.attempt"
	labelPurpose    = "relabel.purpose"
	labelDeadline   = "relabel.deadline"
)

// home is the folder of sandboxd's own files in a container (sandboxd, a copy of git and small files):
// a file system in memory that commands can neither enter, rename nor unmount.
const home = "/relabel"

// homeOptions are the mount options of home for process.UserID, the user of sandboxd.
const homeOptions = "rw,exec,nosuid,nodev,mode=0700,size=96m,uid=63271,gid=63271"

// grantedCapabilities are only for sandboxd, which drops them for every command. With them it changes
// to its own user, starts and ends commands of another, and reads and removes their files of any mode.
var grantedCapabilities = []string{"SETUID", "SETGID", "SETPCAP", "KILL", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER"}

// bootstrap is the container's first program: it reads the $1 bytes of sandboxd from standard input
// and executes it. Without a network the engine does not fill an empty /etc/hosts, but tests need the
// name localhost.
const bootstrap = `[ -s /etc/hosts ] || { printf '127.0.0.1 localhost\n::1 localhost\n' >/etc/hosts; } 2>/dev/null
head -c "$1" >` + home + `/sandboxd && chmod 700 ` + home + `/sandboxd && exec ` + home + `/sandboxd serve`

// containerConfig describes the program of a sandbox's container: no network, no log.
func (h *Host) containerConfig(spec envs.Spec) *container.Config {
	return &container.Config{
		Image:           spec.Image,
		Entrypoint:      []string{"/bin/sh", "-c", bootstrap, "sh", strconv.Itoa(len(h.sandboxd))},
		WorkingDir:      spec.Workdir,
		User:            "0", // of the bootstrap; commands run as the image's user
		Env:             gitEnv,
		Labels:          labelsOf(h.instance, spec.Labels),
		NetworkDisabled: true,
		Healthcheck:     &container.HealthConfig{Test: []string{"NONE"}},
		// Standard input, and with it sandboxd, ends with the attached connection.
		OpenStdin: true, StdinOnce: true, AttachStdin: true, AttachStdout: true, AttachStderr: true,
	}
}

// gitEnv lets git work in a repository that another user owns.
var gitEnv = []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}

// hostConfig isolates the container. AppArmor and read-only paths are the engine's defaults.
func hostConfig(limits envs.Limits, quota bool) *container.HostConfig {
	config := &container.HostConfig{
		NetworkMode:  "none",
		IpcMode:      "private",
		CgroupnsMode: "private", // an engine on cgroup v1 would share the host's
		CapDrop:      []string{"ALL"},
		CapAdd:       grantedCapabilities,
		SecurityOpt:  []string{"no-new-privileges", "seccomp=" + seccompProfile},
		MaskedPaths:  maskedPaths,
		Tmpfs:        map[string]string{home: homeOptions},
		LogConfig:    container.LogConfig{Type: "none"}, // sandboxd's output is not a log
		AutoRemove:   true,                              // the end of sandboxd removes the container
		// sandboxd is the init process and adopts orphans. Another init in front of it would expose
		// the stream to all processes in the container, through /proc/1/fd.
		Init:    new(false),
		Runtime: limits.Runtime,
		Resources: container.Resources{
			Memory:     limits.MemoryBytes,
			MemorySwap: limits.MemoryBytes, // memory and swap together: no swap
			NanoCPUs:   int64(limits.CPUs * 1e9),
			PidsLimit:  &limits.PIDs,
			// The size of one file, for layers without a quota; and no core files.
			Ulimits: []*container.Ulimit{
				{Name: "fsize", Soft: limits.DiskBytes, Hard: limits.DiskBytes},
				{Name: "core", Soft: 0, Hard: 0},
			},
		},
	}
	if quota {
		// Larger than the limit, so that sandboxd ends the commands before a write fails.
		config.StorageOpt = map[string]string{"size": strconv.FormatInt(limits.DiskBytes+limits.DiskBytes/4, 10)}
	}
	return config
}

// withDefaults replaces limits that are 0.
func withDefaults(l envs.Limits) envs.Limits {
	d := envs.DefaultLimits
	l.MemoryBytes = cmp.Or(l.MemoryBytes, d.MemoryBytes)
	l.CPUs = cmp.Or(l.CPUs, d.CPUs)
	l.PIDs = cmp.Or(l.PIDs, d.PIDs)
	l.DiskBytes = cmp.Or(l.DiskBytes, d.DiskBytes)
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

// readLabels is the inverse of labelsOf.
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
