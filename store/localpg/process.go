package localpg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"relabel"
)

// process is a running postmaster, our child or one that was adopted.
type process struct {
	pid    int
	socket string
	log    string
	gone   chan struct{} // closed when our child was reaped; nil for an adopted one
}

// alive reports whether the process still runs.
func (p *process) alive() bool {
	if p.gone != nil {
		select {
		case <-p.gone:
			return false
		default:
			return true
		}
	}
	if err := syscall.Kill(p.pid, 0); err != nil && !errors.Is(err, syscall.EPERM) {
		return false
	}
	// A dead process that nobody has reaped (a container without an init) still has its id.
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	after := stat[bytes.LastIndexByte(stat, ')')+1:]
	return err != nil || !bytes.HasPrefix(after, []byte(" Z"))
}

// isPostgres guards against a process id that went to another program since. Where
// there is no /proc it trusts the id.
func (p *process) isPostgres() bool {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", p.pid))
	if err != nil {
		_, noProc := os.Stat("/proc/self/comm")
		return noProc != nil
	}
	return strings.TrimSpace(string(name)) == "postgres"
}

// stop asks the server to end: sessions are cut off, what has committed stays. When ctx
// ends first it is made to end at once, and recovers at its next start.
func (p *process) stop(ctx context.Context) error {
	if !p.alive() {
		return nil
	}
	if err := syscall.Kill(p.pid, syscall.SIGINT); err != nil && !errors.Is(err, syscall.ESRCH) {
		return relabel.Errorf(relabel.CodeUnavailable, "the local Postgres (process %d) cannot be stopped", p.pid).Because(err)
	}
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-p.gone:
			return nil
		case <-look.C:
			if !p.alive() {
				return nil
			}
		case <-ctx.Done():
			_ = syscall.Kill(p.pid, syscall.SIGQUIT) // it may be gone by now
			return relabel.Errorf(relabel.CodeUnavailable, "the local Postgres did not stop in time and was killed").Because(ctx.Err())
		}
	}
}

// didNotStart is the error of a server that ended before it answered. It wraps errOrphans
// if the server was kept from starting by processes of an earlier one.
func (p *process) didNotStart() error {
	said := p.lastWords()
	var cause error
	if strings.Contains(said, "pre-existing shared memory block") {
		cause = errOrphans
	}
	return relabel.Errorf(relabel.CodeUnavailable, "the local Postgres did not start: %s", said).Because(cause)
}

// lastWords are the end of the server's log.
func (p *process) lastWords() string {
	b, err := os.ReadFile(p.log)
	if err != nil {
		return "its log " + filepath.Base(p.log) + " cannot be read"
	}
	return lastLines(string(b))
}

// lastLines returns the last three lines of what a program said.
func lastLines(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(len(lines)-3, 0):], "; ")
}
