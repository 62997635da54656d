package process

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Family is a command with all that is to end with it: the processes of its session, which
// background jobs and `timeout` put into groups of their own, and their descendants, which
// `setsid` and terminals put into other sessions. A daemon that has left its parents is no
// longer of it.
type Family struct {
	session int
	leader  string         // when the session's leader started; "" where that is not known
	members map[int]string // process id → when it started, for an id may be given again
}

// NewFamily returns the family of a session, whose first process has this id.
func NewFamily(session int) *Family {
	leader, _ := readProcess(strconv.Itoa(session)) // which may be a zombie already
	return &Family{session: session, leader: leader.began, members: map[int]string{}}
}

// Signal signals every member and returns how many there were.
func (f *Family) Signal(sig syscall.Signal) int {
	running := ProcessTable()
	if leader, there := running[f.session]; there && f.leader != "" && leader.began != f.leader {
		return 0 // all are gone, and the session's id is another's now
	}
	for pid, began := range f.members {
		if now, there := running[pid]; !there || now.began != began {
			delete(f.members, pid)
		}
	}
	f.grow(running)
	if len(f.members) == 0 {
		return 0
	}
	_ = syscall.Kill(-f.session, sig) // the group in one go; it may be gone
	// Parents first, or a shell would still say that its child was killed.
	for _, pid := range slices.Sorted(maps.Keys(f.members)) {
		_ = syscall.Kill(pid, sig) // gone since
	}
	return len(f.members)
}

// grow takes in the session and, generation by generation, the children of members.
func (f *Family) grow(running map[int]process) {
	for more := true; more; {
		more = false
		for pid, p := range running {
			if _, known := f.members[pid]; known {
				continue
			}
			if _, child := f.members[p.parent]; child || p.session == f.session {
				f.members[pid], more = p.began, true
			}
		}
	}
}

// process is what /proc says of one that is no zombie.
type process struct {
	parent, session int
	began           string // in ticks since the machine started
}

// ProcessTable reads /proc, this process left out.
func ProcessTable() map[int]process {
	running := map[int]process{}
	dir, err := os.Open("/proc")
	if err != nil {
		return running
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what could be read is what can be signalled
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		if p, ok := readProcess(name); ok {
			running[pid] = p
		}
	}
	return running
}

// readProcess reads one process's line; it is not ok where it is gone, or a zombie, whose
// line is read all the same.
func readProcess(pid string) (p process, ok bool) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return p, false
	}
	// "pid (name) state ppid pgrp session …", the start in the 22nd field; the name may
	// hold anything.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 20 {
		return p, false
	}
	var errs [2]error
	p.parent, errs[0] = strconv.Atoi(fields[1])
	p.session, errs[1] = strconv.Atoi(fields[3])
	p.began = fields[19]
	return p, fields[0] != "Z" && errs[0] == nil && errs[1] == nil
}
