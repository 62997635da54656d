package localpg

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"relabel"
)

// Claim makes this process the only server of a data folder until release or the end of the
// process. CodeConflict if another process is that already.
func Claim(data string) (release func() error, err error) {
	return lockFolder(filepath.Join(data, "server.lock"))
}

// lockFolder locks a folder against a second relabel, or fails with CodeConflict and names the
// process that has the lock. The kernel releases the lock when the process ends; a second call
// of release does nothing.
func lockFolder(path string) (release func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "cannot open %s", path).Because(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := io.ReadAll(io.LimitReader(f, 20)) // empty just before it is written
		_ = f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, relabel.Errorf(relabel.CodeUnavailable, "cannot lock %s", path).Because(err)
		}
		return nil, relabel.Errorf(relabel.CodeConflict, "another relabel (process %s) uses the folder %s; stop it, or choose another folder with --data",
			cmp.Or(strings.TrimSpace(string(holder)), "unknown"), filepath.Dir(path))
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		_ = f.Close()
		return nil, relabel.Errorf(relabel.CodeUnavailable, "cannot write %s", path).Because(err)
	}
	return sync.OnceValue(f.Close), nil
}
