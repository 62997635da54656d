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

// errDiskFull says that what failed did so because nothing more can be written.
var errDiskFull = errors.New("the disk is full")

// orDiskFull returns err, or errDiskFull where nothing can be written any more: a program
// that fails because of that seldom says so in a way that could be read.
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

// oomCounters are where the kernel counts the processes that it killed for want of memory,
// by the version of its control groups.
var oomCounters = []string{"/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"}

// oomKills is how many processes of the container the kernel killed for want of memory; 0
// where it does not say.
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
