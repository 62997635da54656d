package docker

import (
	"bytes"
	_ "embed"
	"encoding/json"
)

// profileText is the engine's default profile (github.com/moby/profiles, v0.2.4) without the calls
// that it allows to holders of capabilities, and without socketcall(2), whose arguments no filter can
// see. So there is no io_uring, no socket of the families AF_VSOCK and AF_ALG, and no keyctl,
// userfaultfd, perf_event_open or bpf. fallocate(2) is not supported, because one call can fill the
// engine's disk before the sandbox's use is measured. Each container gets the profile because
// defaults differ: that of Docker 20.10 allows io_uring and AF_VSOCK.
//
//go:embed seccomp.json
var profileText []byte

// seccompProfile is profileText without spaces.
var seccompProfile = func() string {
	var text bytes.Buffer
	if err := json.Compact(&text, profileText); err != nil {
		panic(err) // the file is part of this program
	}
	return text.String()
}()

// maskedPaths are the paths that engines mask by default (20.10 to 29), and the kernel's symbols. Paths
// that a kernel lacks are ignored.
var maskedPaths = []string{
	"/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/sched_debug", "/proc/scsi",
	"/proc/timer_list", "/proc/timer_stats", "/sys/devices/virtual/powercap", "/sys/firmware",
	"/proc/kallsyms",
}
