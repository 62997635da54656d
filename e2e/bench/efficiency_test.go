package bench

import (
	"testing"
	"time"
)

// treeTime is what reading the working tree takes in a real sandbox.
const treeTime = 5 * time.Millisecond

// BenchmarkEfficiency rolls out -at-once trajectories at once in one worker process, at
// β = 0.6. of-ideal is the critical-path ideal ÷ actual, over all trajectories, counted
// from when they could be claimed; slowest is the same of the round as a whole.
func BenchmarkEfficiency(b *testing.B) {
	t := times{Start: time.Second, Command: *command, Tree: treeTime, Verify: time.Second}
	for b.Loop() {
		url := databaseURL(b)
		s := openStore(b, url)
		p := start(b, orders{Database: url, Name: "worker", Rollouts: *atOnce, Hosts: hosts(1), Times: t})
		var ready string
		p.hear(b, &ready)
		m := newMeter(b, s, []*process{p})
		r := begin(b, s, roundOf{trajectories: *atOnce, turns: *turns, beta: 0.6, student: *student, teacher: 2 * *student, times: t})
		r.wait(b)
		mean, slowest := r.efficiency(b)
		b.ReportMetric(mean, "of-ideal")
		b.ReportMetric(slowest, "slowest-of-ideal")
		b.ReportMetric(r.claimed(b), "s-until-claimed")
		r.reportTime(b)
		m.reportProcessor(b, float64(*atOnce**turns))
		must(b, p.stop())
	}
}
