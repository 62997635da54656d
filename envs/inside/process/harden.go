package process

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
)

// spare is how many threads are kept ready; see spareThreads.
const spare = 24

// StandardStreams returns standard input and output such that waiting for them takes no
// thread.
func StandardStreams() (in, out *os.File, err error) {
	for fd := range 2 {
		if err := syscall.SetNonblock(fd, true); err != nil {
			return nil, nil, fmt.Errorf("standard streams: %w", err)
		}
	}
	return os.NewFile(0, "standard input"), os.NewFile(1, "standard output"), nil
}

// Harden makes this process fit to live beside an agent: until Separate nobody may read its
// memory or its open files, through which answers could be forged, no command can end it, and it
// needs no new thread once commands run.
func Harden() error {
	// On prctl(2): 4 is PR_SET_DUMPABLE.
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, 4, 0, 0); errno != 0 {
		return fmt.Errorf("close /proc/self to others: %w", errno)
	}
	// An output of the usual length fits, and need not wait for the engine to take it.
	GrowPipe(1)
	// One at a time: handing work from thread to thread is what a short command would
	// spend most of its time on.
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(400)
	// Nobody in the container may end its first process. Taken rather than ignored: what
	// is ignored would be ignored by commands too.
	signal.Notify(make(chan os.Signal, 1))
	spareThreads(spare)
	return nil
}

// fSetPipeSize is of fcntl(2); package syscall lacks it.
const fSetPipeSize = 1031

// PipeSize is how many bytes GrowPipe makes room for.
const PipeSize = 1 << 20

// GrowPipe makes room in a pipe, as far as the kernel allows; without it all is slower.
func GrowPipe(fd int) {
	_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), fSetPipeSize, PipeSize)
}

// PreferForOOM says how likely a process is to be ended when memory is out: commands, with 1000,
// before sandboxd, with 0. None can make itself less likely than 0.
func PreferForOOM(pid int, score string) {
	// A program that is gone already needs no preference.
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
