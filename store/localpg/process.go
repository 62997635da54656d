package localpg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"relabel"
)

// process is a running postmaster: a child of this process or an adopted one.
type process struct {
	pid    int
	socket string
	log    string
	gone   chan struct{} // closed when the child was reaped; nil for an adopted one
}

// alive reports whether the process still runs. An adopted one also has to be a Postgres, because
// its id may belong to another program by now; without /proc the id is trusted.
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
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	if err != nil {
		_, noProc := os.Stat("/proc/self/stat")
		return noProc != nil
	}
	// A zombie (nobody reaps it in a container without an init) keeps its id.
	state, postgres := bytes.CutPrefix(stat, fmt.Appendf(nil, "%d (postgres) ", p.pid))
	return postgres && !bytes.HasPrefix(state, []byte("Z"))
}

// stop ends the server: it disconnects sessions and keeps all committed data. If ctx ends first,
// it kills the server, which recovers at its next start.
func (p *process) stop(ctx context.Context) error {
	if !p.alive() {
		return nil
	}
	if err := syscall.Kill(p.pid, syscall.SIGINT); err != nil && !errors.Is(err, syscall.ESRCH) {
		return relabel.Errorf(relabel.CodeUnavailable, "cannot stop the local Postgres (process %d)", p.pid).Because(err)
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

// didNotStart returns the error of a server that ended before it answered, with the end of its
// log. It wraps errOrphans if processes of an earlier server prevented the start.
func (p *process) didNotStart() error {
	log, err := os.ReadFile(p.log)
	if err != nil {
		return relabel.Errorf(relabel.CodeUnavailable, "the local Postgres did not start; cannot read its log %s", p.log).Because(err)
	}
	end := lastLines(log)
	if strings.Contains(end, "pre-existing shared memory block") {
		err = errOrphans
	}
	return relabel.Errorf(relabel.CodeUnavailable, "the local Postgres did not start: %s", end).Because(err)
}

// lastLines returns the last three lines of a program's output.
func lastLines(output []byte) string {
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	return strings.Join(lines[max(len(lines)-3, 0):], "; ")
}
