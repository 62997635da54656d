package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"relabel/store"
)

// meter watches a crowd.
type meter struct {
	store     *store.Store
	processes []*process

	most, lost, connections int
	margin                  float64 // seconds
	claimed                 time.Duration

	workersBefore, postgresBefore, selfBefore float64
}

func newMeter(b *testing.B, s *store.Store, all []*process) *meter {
	b.Helper()
	m := &meter{store: s, processes: all, margin: 1e9}
	m.workersBefore, m.postgresBefore, m.selfBefore = m.workers(), m.postgres(), self()
	return m
}

// workers is the processor's time that the workers have spent, in seconds.
func (m *meter) workers() (sum float64) {
	for _, p := range m.processes {
		sum += processor(p.cmd.Process.Pid, false)
	}
	return sum
}

// reportProcessor reports the processor's time for each of n turns, by who spent it.
func (m *meter) reportProcessor(b *testing.B, n float64) {
	b.Helper()
	b.ReportMetric((m.workers()-m.workersBefore)/n*1000, "ms-workers/turn")
	b.ReportMetric((m.postgres()-m.postgresBefore)/n*1000, "ms-postgres/turn")
	b.ReportMetric((self()-m.selfBefore)/n*1000, "ms-models/turn")
}

// memory is what the workers hold, in KiB.
func (m *meter) memory(b *testing.B) (sum float64) {
	b.Helper()
	for _, p := range m.processes {
		sum += statusKiB(b, p.cmd.Process.Pid, "VmRSS")
	}
	return sum
}

// postgres is what the server and its live sessions have spent, in seconds.
func (m *meter) postgres() (sum float64) {
	text, err := os.ReadFile(filepath.Join(postgres.dir, "postgres", "data", "postmaster.pid"))
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		return 0
	}
	sum = processor(pid, true)
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return sum
	}
	for _, child := range strings.Fields(string(children)) {
		if pid, err := strconv.Atoi(child); err == nil {
			sum += processor(pid, false)
		}
	}
	return sum
}

// self is what this process has spent, which serves the models.
func self() float64 { return processor(os.Getpid(), false) }

// processor is how much of the processor's time a process has had, in seconds; with
// that of its children that have ended, where ended says so. 0 for one that is gone.
func processor(pid int, ended bool) float64 {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	counted := fields[11:13] // user and system
	if ended {
		counted = fields[11:15]
	}
	var ticks float64
	for _, f := range counted {
		n, _ := strconv.ParseFloat(f, 64)
		ticks += n
	}
	return ticks / 100 // a second has 100 on Linux
}
