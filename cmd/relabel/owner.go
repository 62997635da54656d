package main

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

// newOwner names this process as the owner of trajectories: where it runs, its process
// id there, and an id that no other process has.
func newOwner() string {
	return fmt.Sprintf("%s/%d/%s", here(), os.Getpid(), relabel.NewID())
}

// here names the machine since its boot and the process namespace, "" where that
// cannot be known.
func here() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(string(boot) + space))
	return hex.EncodeToString(sum[:6])
}

// isGone reports whether owner was a process of this machine that is no more. Of
// others it knows nothing: their leases run out.
func isGone(owner string) bool {
	place, rest, _ := strings.Cut(owner, "/")
	number, _, _ := strings.Cut(rest, "/")
	pid, err := strconv.Atoi(number)
	if err != nil || place == "" || place != here() {
		return false
	}
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && hasEnded(string(stat))
}

// hasEnded reads off a process's stat whether it has ended and only its parent has not
// asked for that yet. The state follows the name, which may hold anything in its brackets.
func hasEnded(stat string) bool {
	state := strings.TrimSpace(stat[strings.LastIndexByte(stat, ')')+1:])
	return strings.HasPrefix(state, "Z") || strings.HasPrefix(state, "X")
}
