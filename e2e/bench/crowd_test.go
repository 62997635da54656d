package bench

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"
)

// The simulation: 50 Docker hosts driven by four worker processes.
const (
	crowdHosts     = 50
	crowdProcesses = 4
	crowdTurns     = 4
	crowdStudent   = 60 * time.Second // as slow as it must be for this many turns a second on two cores
)

// BenchmarkCrowd rolls 10,000 trajectories out at once, over 50 Docker hosts that take
// time and no machine, and says what that costs: of-ideal is the critical-path ideal ÷
// actual; margin the shortest time that a lease had left; lost how many attempts lost
// theirs; and the processor's time for a turn, by who spent it.
func BenchmarkCrowd(b *testing.B) {
	t := times{Start: time.Second, Command: 2 * time.Second, Tree: treeTime, Verify: 2 * time.Second}
	for b.Loop() {
		url := databaseURL(b)
		s := openStore(b, url)
		var all []*process
		for i := range crowdProcesses {
			p := start(b, orders{Database: url, Name: fmt.Sprint("crowd", i), Rollouts: *crowd / crowdProcesses, Times: t,
				Hosts: hosts(crowdHosts)[i*crowdHosts/crowdProcesses : (i+1)*crowdHosts/crowdProcesses]})
			var ready string
			p.hear(b, &ready)
			all = append(all, p)
		}
		r := begin(b, s, roundOf{trajectories: *crowd, turns: crowdTurns, beta: 0.6, student: crowdStudent, teacher: 2 * crowdStudent, times: t})
		m := newMeter(b, s, all)
		m.watch(b, r)
		m.report(b, r)
		mean, _ := r.efficiency(b)
		b.ReportMetric(mean, "of-ideal")
		for _, p := range all {
			must(b, p.stop())
		}
	}
}

// watch samples the crowd until each trajectory is done.
func (m *meter) watch(b *testing.B, r round) {
	b.Helper()
	began := time.Now()
	for one[string](b, m.store, "SELECT state FROM iterations WHERE id = $1", r.id) == "running" {
		time.Sleep(5 * time.Second)
		var held, lost int
		var margin *float64
		must(b, m.store.Pool().QueryRow(context.Background(), `SELECT count(*), min(extract(epoch FROM lease_until - clock_timestamp()))::float8,
			(SELECT count(*) FROM attempts WHERE outcome NOT IN ('done')) FROM trajectories WHERE owner IS NOT NULL`).Scan(&held, &margin, &lost))
		m.most, m.lost = max(m.most, held), lost
		if margin != nil {
			m.margin = min(m.margin, *margin)
		}
		if held > *crowd*99/100 && m.claimed == 0 {
			m.claimed = time.Since(began)
		}
		m.connections = max(m.connections, one[int](b, m.store, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'relabel'"))
		fmt.Fprintf(os.Stderr, "%4.0fs %d held, margin %.0fs, %d lost, %d turns, %.0fs of processor\n", time.Since(began).Seconds(), held, m.margin, lost,
			one[int](b, m.store, "SELECT coalesce(sum(turns), 0) FROM trajectories"), m.workers()+m.postgres()+self())
	}
}

// report says what the meter found.
func (m *meter) report(b *testing.B, r round) {
	b.Helper()
	b.ReportMetric(float64(m.most), "at-once")
	b.ReportMetric(m.claimed.Seconds(), "s-until-claimed")
	b.ReportMetric(m.margin, "s-margin")
	b.ReportMetric(float64(m.lost), "lost")
	b.ReportMetric(float64(m.connections), "connections")
	m.reportProcessor(b, float64(len(r.trajectories)*crowdTurns))
	b.ReportMetric(m.memory(b)/1024, "MiB-workers")
}
