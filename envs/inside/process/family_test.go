package process

import (
	"os/exec"
	"syscall"
	"testing"
	"unsafe"
)

// TestAFamilyKnowsALeaderThatHasEnded: else the session of whoever is given its id next
// is taken for its own, and ended with it.
func TestAFamilyKnowsALeaderThatHasEnded(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	awaitZombie(t, cmd.Process.Pid)
	if _, alive := ProcessTable()[cmd.Process.Pid]; alive {
		t.Error("a zombie is taken for a process that runs")
	}
	f := NewFamily(cmd.Process.Pid)
	if f.leader == "" {
		t.Error("when it began is not known")
	}
	if n := f.Signal(syscall.SIGKILL); n != 0 {
		t.Errorf("%d are left of it", n)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// awaitZombie waits until a child has ended, and leaves it to be waited for.
func awaitZombie(t *testing.T, pid int) {
	t.Helper()
	const onePid, exited, leave = 1, 0x4, 0x01000000 // P_PID, WEXITED, WNOWAIT of waitid(2)
	var info [128]byte
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, onePid, uintptr(pid), uintptr(unsafe.Pointer(&info)), exited|leave, 0, 0)
		if errno == 0 {
			return
		}
		if errno != syscall.EINTR {
			t.Fatal(errno)
		}
	}
}
