package storetest

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A process that has the pid file of a server stands for one. It ends as Postgres does, or as if another server had
// started meanwhile.
func TestAnUnusedServerIsStoppedAndItsFilesAreRemoved(t *testing.T) {
	for end, stays := range map[string]bool{`rm "$0"`: false, `echo 1 >"$0"`: true} {
		dir := t.TempDir()
		pid, used := filepath.Join(dir, pidFile), filepath.Join(dir, "used")
		must(t, os.MkdirAll(filepath.Dir(pid), 0o700))
		must(t, os.WriteFile(used, nil, 0o600))
		longAgo := time.Now().Add(-time.Hour)
		must(t, os.Chtimes(used, longAgo, longAgo))
		server := exec.Command("/bin/sh", "-c", "trap '"+end+"; exit' INT; echo $$ >\"$0\"; echo ready; while :; do sleep 0.1; done", pid)
		said, err := server.StdoutPipe()
		must(t, err)
		must(t, server.Start())
		if _, err := bufio.NewReader(said).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- server.Wait() }()
		err = watch(dir).Run()
		must(t, <-ended)
		if _, gone := os.Stat(filepath.Join(dir, "postgres")); errors.Is(gone, fs.ErrNotExist) == stays {
			t.Errorf("after %s: the loop ended with %v, the files: %v", end, err, gone)
		}
	}
}

func TestTheServerIsInMemoryIfItHasSpaceOrAServer(t *testing.T) {
	memory := t.TempDir()
	for space, want := range map[uint64]string{1: memory, 1 << 62: os.TempDir()} {
		if got := folder(memory, space, "x"); got != filepath.Join(want, "x") {
			t.Errorf("a server that needs %d bytes is in %s", space, got)
		}
	}
	if got := folder(filepath.Join(memory, "absent"), 1, "x"); got != filepath.Join(os.TempDir(), "x") {
		t.Errorf("without memory it is in %s", got)
	}
	must(t, os.MkdirAll(filepath.Join(memory, "x", filepath.Dir(pidFile)), 0o700))
	must(t, os.WriteFile(filepath.Join(memory, "x", pidFile), nil, 0o600))
	if got := folder(memory, 1<<62, "x"); got != filepath.Join(memory, "x") {
		t.Errorf("beside a server it is in %s", got)
	}
}
