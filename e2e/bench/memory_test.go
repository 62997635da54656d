package bench

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkMemory measures what a worker process holds for each trajectory that runs and
// has 40 turns behind it, with a student's call and a label in progress: the slope of its
// resident memory between few and many such trajectories. The baseline is the length of
// their texts, as JSON.
func BenchmarkMemory(b *testing.B) {
	const few, many = 32, 512
	for b.Loop() {
		first, _ := resident(b, few)
		last, text := resident(b, many)
		slope := (last - first) / (many - few)
		b.ReportMetric(first/1024, "MiB-at-32")
		b.ReportMetric(last/1024, "MiB-at-512")
		b.ReportMetric(slope, "KiB/trajectory")
		b.ReportMetric(text, "KiB-text/trajectory")
		b.ReportMetric(slope/text, "x-text")
	}
}

// resident rolls n trajectories out up to turn 41, which no model answers, and returns
// the worker's resident memory and the mean length of a state, both in KiB.
func resident(b *testing.B, n int) (rss, text float64) {
	b.Helper()
	const turns = 40
	url := databaseURL(b)
	s := openStore(b, url)
	p := start(b, orders{Database: url, Name: fmt.Sprint("memory", n), Rollouts: n, Hosts: hosts(1)})
	var ready string
	p.hear(b, &ready)
	r := begin(b, s, roundOf{trajectories: n, turns: turns + 1, student: 20 * time.Millisecond, teacher: 20 * time.Millisecond,
		hold: fmt.Sprintf(`"call_%d_0"`, turns)})
	for one[int](b, s, "SELECT sum(turns) FROM trajectories WHERE iteration_id = $1", r.id) < n*turns {
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(5 * time.Second) // labels come in, connections go quiet
	rss = statusKiB(b, p.cmd.Process.Pid, "VmRSS")
	text = one[float64](b, s, `SELECT ((SELECT sum(length(content)) FROM observations) + (SELECT sum(length(a.raw)) FROM actions a JOIN turns t
		ON (a.trajectory_id, a.attempt, a.t, a.policy_id) = (t.trajectory_id, t.attempt, t.t, t.executor_policy_id)))::float8 / 1024 / $1`, n)
	_, err := s.CancelIteration(context.Background(), r.id)
	must(b, err)
	must(b, p.stop())
	return rss, text
}

// statusKiB reads a field of a process's status.
func statusKiB(b *testing.B, pid int, field string) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	must(b, err)
	_, rest, _ := strings.Cut(string(status), field+":")
	n, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	must(b, err)
	return n
}
