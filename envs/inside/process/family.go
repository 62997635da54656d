package process

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Family is a command with the processes that end with it: those of its session, also in other process
// groups (background jobs, `timeout`), and their descendants, also in other sessions (`setsid`,
// terminals). A daemon that has left its parents is not part of it.
type Family struct {
	session int
	leader  string         // start time of the session's leader; "" if unknown
	members map[int]string // process id → start time, because ids are reused
}

// NewFamily returns the family of a session, whose first process has this id.
func NewFamily(session int) *Family {
	leader, _ := readProcess(strconv.Itoa(session)) // may be a zombie already
	return &Family{session: session, leader: leader.began, members: map[int]string{}}
}

// Signal signals every member and returns how many there were.
func (f *Family) Signal(sig syscall.Signal) int {
	running := ProcessTable()
	if leader, there := running[f.session]; there && f.leader != "" && leader.began != f.leader {
		return 0 // all have ended, and another process has the id
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
	_ = syscall.Kill(-f.session, sig) // the whole group at once; it may have ended
	// Parents first, so that no shell reports that its child was killed.
	for _, pid := range slices.Sorted(maps.Keys(f.members)) {
		_ = syscall.Kill(pid, sig) // it may have ended
	}
	return len(f.members)
}

// grow adds the session and, generation by generation, the children of members.
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

// process is an entry of /proc that is not a zombie.
type process struct {
	parent, session int
	began           string // in ticks since the machine started
}

// ProcessTable reads /proc without this process.
func ProcessTable() map[int]process {
	running := map[int]process{}
	dir, err := os.Open("/proc")
	if err != nil {
		return running
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // a partial list is used
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

// readProcess reads one process; ok is false if it is gone or a zombie, whose data is returned too.
func readProcess(pid string) (p process, ok bool) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return p, false
	}
	// "pid (name) state ppid pgrp session …", the start time in field 22; the name may contain
	// anything.
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
