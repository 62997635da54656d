package localpg

import (
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

// folderLock keeps a second relabel out of a data folder. The kernel releases it when the process
// ends.
type folderLock struct {
	file *os.File
	once sync.Once
}

// lockFolder takes the lock, or fails with CodeConflict and the process that has it.
func lockFolder(path string) (*folderLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "%s cannot be opened", path).Because(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := io.ReadAll(io.LimitReader(f, 20)) // it may be just about to be written
		_ = f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, relabel.Errorf(relabel.CodeUnavailable, "%s cannot be locked", path).Because(err)
		}
		return nil, relabel.Errorf(relabel.CodeConflict, "another relabel (process %s) uses the folder %s; stop it, or choose another folder with --data",
			orUnknown(string(holder)), filepath.Dir(path))
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		_ = f.Close()
		return nil, relabel.Errorf(relabel.CodeUnavailable, "%s cannot be written", path).Because(err)
	}
	return &folderLock{file: f}, nil
}

// Claim makes this process the only server of a data folder until release or the end of the
// process. CodeConflict if another process is that already.
func Claim(data string) (release func() error, err error) {
	lock, err := lockFolder(filepath.Join(data, "server.lock"))
	if err != nil {
		return nil, err
	}
	return lock.release, nil
}

func orUnknown(holder string) string {
	if holder = strings.TrimSpace(holder); holder == "" {
		return "unknown"
	}
	return holder
}

// release unlocks the folder. A second call does nothing.
func (l *folderLock) release() (err error) {
	l.once.Do(func() { err = l.file.Close() })
	return err
}
