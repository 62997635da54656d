package worker

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"relabel"
)

// NewOwner returns a name for this process as the owner of trajectories: the machine, the
// process id, and a unique id.
func NewOwner() string {
	return fmt.Sprintf("%s/%d/%s", machineID(), os.Getpid(), relabel.NewID())
}

// MachineName returns the host name of this machine.
func MachineName() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}

// machineID identifies the machine since its boot and the process namespace; "" if that is
// unknown.
func machineID() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(string(boot) + namespace))
	return hex.EncodeToString(sum[:6])
}

// IsGone reports whether owner was a process of this machine that has ended. For processes of
// other machines it returns false: their leases expire.
func IsGone(owner string) bool {
	machine, rest, _ := strings.Cut(owner, "/")
	number, _, _ := strings.Cut(rest, "/")
	pid, err := strconv.Atoi(number)
	if err != nil || machine == "" || machine != machineID() {
		return false
	}
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && hasEnded(string(stat))
}

// hasEnded reports whether /proc/PID/stat is that of a zombie or dead process. The state
// follows the name, which is in parentheses and may contain any character.
func hasEnded(stat string) bool {
	state := strings.TrimSpace(stat[strings.LastIndexByte(stat, ')')+1:])
	return strings.HasPrefix(state, "Z") || strings.HasPrefix(state, "X")
}
