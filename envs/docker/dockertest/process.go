package dockertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

// startWithUs starts a program that receives a signal when this process ends, even if it is killed.
// It gets a network of its own if isolated is true. ended is closed when the program has ended.
func startWithUs(cmd *exec.Cmd, signal syscall.Signal, isolated bool) (ended <-chan struct{}, err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: signal}
	if isolated {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWNET
	}
	started, done := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // Pdeathsig applies to the thread
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if started <- err; err == nil {
			_ = cmd.Wait() // a failure shows when it does not answer
		}
	}()
	return done, <-started
}

// folderPrefix begins the names of the folders of engines.
const folderPrefix = "relabel-engine-"

var sweepFolders sync.Once

// removeOldFolders removes the folders of killed test runs.
func removeOldFolders(t testing.TB) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range found {
		if info, err := os.Stat(dir); err != nil || time.Since(info.ModTime()) < longest {
			continue
		}
		unmountBelow(t, dir)
		if err := os.RemoveAll(dir); err != nil {
			t.Logf("%s is left: %v", dir, err) // another run may remove it too
		}
	}
}
