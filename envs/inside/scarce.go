package inside

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"relabel/envs/inside/process"
)

// errDiskFull is wrapped by errors that are due to a full disk.
var errDiskFull = errors.New("the disk is full")

// orDiskFull adds errDiskFull to err if the disk is full, which the error of a program seldom shows.
func (s *Server) orDiskFull(err error) error {
	if err == nil || errors.Is(err, process.ErrTooLarge) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, failed := process.Unnamed(s.bulk.Path("scratch"))
	if failed == nil {
		defer f.Close()
		_, failed = f.Write(make([]byte, 64<<10))
	}
	if errors.Is(failed, syscall.ENOSPC) || errors.Is(failed, syscall.EDQUOT) {
		return errors.Join(errDiskFull, err)
	}
	return err
}

// oomCounters are the kernel's files with the number of processes killed because memory ran out, by
// version of its control groups.
var oomCounters = []string{"/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"}

// oomKills is the number of the container's processes that the kernel killed because memory ran out; 0
// if that is unknown.
func oomKills() int {
	for _, path := range oomCounters {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		for line := range bytes.Lines(text) {
			if count, ok := bytes.CutPrefix(line, []byte("oom_kill ")); ok {
				n, _ := strconv.Atoi(string(bytes.TrimSpace(count))) // the kernel writes numbers
				return n
			}
		}
	}
	return 0
}
