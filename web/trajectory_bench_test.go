package web_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"relabel"
	"relabel/store/storetest"
	"relabel/web/webtest"
)

// BenchmarkTrajectoryInABrowser opens large trajectories, and links to a turn in their
// middle, until that turn reads, each in a new tab; beside a page without anything.
func BenchmarkTrajectoryInABrowser(b *testing.B) {
	s := start(b)
	middle, large := s.seedLarge(200, 25_000), s.seedLarge(500, 200_000)
	reads := func(t int) string {
		return fmt.Sprintf(`(() => { const o = document.querySelector("#t%d .observation pre"); if (!o) return false; const r = o.getBoundingClientRect(); return r.top < innerHeight && r.bottom > 0; })()`, t)
	}
	for _, c := range []struct{ name, path, ready string }{
		{"blank page", "/static/none", "document.readyState === 'complete'"},
		{"200 turns 5 MB", middle, reads(1)},
		{"200 turns 5 MB at turn 100", middle + "#t100", reads(100)},
		{"500 turns 100 MB", large, reads(1)},
		{"500 turns 100 MB at turn 250", large + "#t250", reads(250)},
	} {
		b.Run(c.name, func(b *testing.B) {
			var bytes, memory int
			for b.Loop() {
				b.StopTimer()
				p := webtest.Open(b, "about:blank")
				p.Expect("")
				b.StartTimer()
				p.Go(s.URL + c.path)
				p.Wait(c.ready)
				b.StopTimer()
				bytes, memory = max(bytes, p.Bytes()), max(memory, largestRenderer())
				p.Close()
				b.StartTimer()
			}
			b.ReportMetric(float64(bytes)/1e3, "kB")
			b.ReportMetric(float64(memory)/1e6, "MB-renderer")
		})
	}
	b.Run("find in 100 MB", func(b *testing.B) {
		for b.Loop() {
			if page := s.get(200, large+"/find?part=found&q=not+to+be+found"); !strings.Contains(page, "Nothing") {
				b.Fatal(page)
			}
		}
	})
}

// seedLarge makes a trajectory whose turns have that many bytes of output each.
func (s *site) seedLarge(turns, output int) (path string) {
	s.t.Helper()
	d := storetest.SeedWith(s.t, s.store, 1, func(d *storetest.Seeded) {
		d.Run.Limits.MaxTurns = turns
		d.Trajectories[0].Executors = relabel.Executors(strings.Repeat("ssT", turns/3+1)[:turns])
	})
	s.run, s.iteration = d.Run, d.Iteration
	f := s.claim(d.Trajectories[0])
	for i := 1; i <= turns; i++ {
		label := s.label(bash("", fmt.Sprintf("sed -n %d,%dp src/fields.py", i, i+40+i%3/2)))
		if d.Trajectories[0].Executors.At(i) == relabel.Teacher {
			label = nil
		}
		s.must(s.store.CommitTurn(s.t.Context(), f, s.largeTurn(i, output, label)))
	}
	s.end(f, patch, relabel.Verdict{Passed: true, Reason: "passed", Tests: map[string]relabel.TestStatus{"t::a": relabel.TestPassed}, Output: []byte("PASSED"), Millis: 10, At: time.Now()})
	return "/trajectories/" + d.Trajectories[0].ID.String()
}

// largeTurn is a turn with that many bytes of output.
func (s *site) largeTurn(t, output int, label *relabel.Action) relabel.Turn {
	return s.turn(t, bash(largeThought(t), largeCommand(t)), label, largeOutput(t, output))
}

func largeThought(t int) string {
	return fmt.Sprintf("I look at what the tests say %d. ", t) + strings.Repeat("I look at what the tests say. ", 4)
}

func largeCommand(t int) string { return fmt.Sprintf("sed -n %d,%dp src/fields.py", t, t+40) }

func largeOutput(t, bytes int) string {
	var text strings.Builder
	for k := 0; text.Len() < bytes; k++ {
		fmt.Fprintf(&text, "src/module_%d/file_%d.py:%d: %s\n", k%17, (t*k)%101, k, strings.Repeat("word ", (t+k)%9))
	}
	return text.String()
}

// largestRenderer is the resident memory of the largest renderer that this process has
// started, in bytes.
func largestRenderer() (most int) {
	statuses, _ := filepath.Glob("/proc/[0-9]*/status") // a pattern that is right
	parents := map[string]string{}
	for _, name := range statuses {
		parents[filepath.Base(filepath.Dir(name))] = field(name, "PPid:")
	}
	for pid := range parents {
		command, err := os.ReadFile("/proc/" + pid + "/cmdline")
		if err != nil || !bytes.Contains(command, []byte("--type=renderer")) {
			continue
		}
		for of := pid; of != "" && of != "0"; of = parents[of] {
			if of == strconv.Itoa(os.Getpid()) {
				kB, _ := strconv.Atoi(strings.TrimSuffix(field("/proc/"+pid+"/status", "VmRSS:"), " kB")) // 0 once it is gone
				most = max(most, kB*1000)
			}
		}
	}
	return most
}

// field is a field of a process's status.
func field(name, key string) string {
	status, err := os.ReadFile(name)
	if err != nil {
		return "" // it has ended
	}
	_, rest, _ := strings.Cut(string(status), key)
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}
