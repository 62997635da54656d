package process

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// StandardStreams returns standard input and output in non-blocking mode: waiting needs no thread.
func StandardStreams() (in, out *os.File, err error) {
	for fd := range 2 {
		if err := syscall.SetNonblock(fd, true); err != nil {
			return nil, nil, fmt.Errorf("standard streams: %w", err)
		}
	}
	return os.NewFile(0, "standard input"), os.NewFile(1, "standard output"), nil
}

// Harden protects this process from an agent: until Separate no other process may read its memory or
// open files, with which answers could be forged, no command can end it, and it needs no new thread
// once commands run.
func Harden() error {
	// On prctl(2): 4 is PR_SET_DUMPABLE.
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, 4, 0, 0); errno != 0 {
		return fmt.Errorf("close /proc/self to others: %w", errno)
	}
	// The usual output fits, so that writing it does not wait for the engine.
	GrowPipe(1)
	// Handing work over between threads would take most of the time of a short command.
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(400)
	// No process in the container may end this one. Signals are caught, because commands would inherit
	// ignored ones.
	signal.Notify(make(chan os.Signal, 1))
	spareThreads(24)
	return nil
}

// PipeSize is the capacity of a pipe after GrowPipe, in bytes.
const PipeSize = 1 << 20

// GrowPipe enlarges a pipe as far as the kernel allows, for speed.
func GrowPipe(fd int) { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, PipeSize) }

// PreferForOOM sets the kernel's preference for ending a process when memory runs out: 1000 for
// commands, 0 for sandboxd. No process can lower its own below 0.
func PreferForOOM(pid int, score string) {
	// The program may have ended already.
	if f, err := os.OpenFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", os.O_WRONLY, 0); err == nil {
		_, _ = f.WriteString(score)
		f.Close()
	}
}

// ExitCode is the shell's: 128+n for signal n.
func ExitCode(status syscall.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}
