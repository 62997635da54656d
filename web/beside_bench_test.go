package web_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"relabel"
	"relabel/web/webtest"
)

// viewers are two other viewers of agents' trajectories, and the scripts that write what
// they read. Each wants the folder of its programs in a variable; docs/benchmarks.md says
// which versions of them our figures are beside.
var viewers = []struct {
	name, variable, script string
	view                   func(folder, port string) []string
	// page is where a trajectory reads, and list where all of them do.
	page, list func(folder, id string) string
}{
	{"Inspect", "RELABEL_BENCH_INSPECT", "inspect_log.py",
		func(folder, port string) []string {
			return []string{"inspect", "view", "start", "--log-dir", folder, "--port", port}
		},
		func(folder, id string) string {
			return "/#/logs/" + onlyFile(folder) + "/samples/sample/" + id + "/1/messages"
		},
		func(folder, _ string) string { return "/#/logs/" + onlyFile(folder) + "/samples" }},
	{"Harbor", "RELABEL_BENCH_HARBOR", "harbor_job.py",
		func(folder, port string) []string { return []string{"harbor", "view", folder, "--port", port} },
		func(_, id string) string { return "/jobs/trajectories/trials/" + id + "__1" },
		func(string, string) string { return "/jobs/trajectories?tab=results" }},
}

// BenchmarkBeside opens the same trajectories in relabel's viewer and in others', each in a
// new tab, until the first turn, or the first row of 2,000, stands on the page.
func BenchmarkBeside(b *testing.B) {
	for _, c := range []struct {
		name                        string
		trajectories, turns, output int
	}{{"200 turns 5 MB", 1, 200, 25_000}, {"500 turns 100 MB", 1, 500, 200_000}, {"list of 2000", 2000, 5, 600}} {
		b.Run(c.name, func(b *testing.B) {
			b.Run("relabel", func(b *testing.B) { openOurs(b, c.trajectories, c.turns, c.output) })
			for k, v := range viewers {
				b.Run(v.name, func(b *testing.B) { openTheirs(b, k, c.trajectories, c.turns, c.output) })
			}
		})
	}
}

func openOurs(b *testing.B, trajectories, turns, output int) {
	s := start(b)
	if trajectories > 1 {
		ids := s.begin("many", make([]string, trajectories)...)
		for _, t := range ids {
			f := s.claim(t)
			for i := 1; i <= turns; i++ {
				s.must(s.store.CommitTurn(b.Context(), f, s.largeTurn(i, output, nil)))
			}
			s.end(f, patch, relabel.Verdict{Passed: true, Reason: "passed", Millis: 10, At: time.Now()})
		}
		openUntil(b, s.URL+"/iterations/"+s.iteration.ID.String(), "marshmallow-")
		return
	}
	openUntil(b, s.URL+s.seedLarge(turns, output), marker)
}

func openTheirs(b *testing.B, k, trajectories, turns, output int) {
	v := viewers[k]
	programs := os.Getenv(v.variable)
	if programs == "" {
		b.Skipf("%s is not set: the folder with %s's programs", v.variable, v.name)
	}
	folder := b.TempDir()
	written := writeForOthers(b, trajectories, turns, output)
	program(b, filepath.Join(programs, "python"), filepath.Join("testdata/beside", v.script), written, filepath.Join(folder, "logs"))
	port := freePort(b)
	view := v.view(filepath.Join(folder, "logs"), port)
	server := exec.Command(filepath.Join(programs, view[0]), view[1:]...)
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { server.Process.Kill(); server.Wait() }) //nolint:errcheck // it is killed
	address := "http://127.0.0.1:" + port
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if res, err := http.Get(address); err == nil {
			res.Body.Close()
			break
		} else if time.Now().After(deadline) {
			b.Fatal(err)
		}
	}
	if trajectories > 1 {
		openUntil(b, address+v.list(filepath.Join(folder, "logs"), ""), "task-")
		return
	}
	openUntil(b, address+v.page(filepath.Join(folder, "logs"), "task-0"), marker)
}

// marker is what the first turn's thought says and no other does.
const marker = "I look at what the tests say 1."

// openUntil times how long a text needs to stand on a page, in its first screens.
func openUntil(b *testing.B, address, text string) {
	stands := fmt.Sprintf(`(() => {
		const all = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		while (all.nextNode()) {
			if (all.currentNode.data.includes(%q) && all.currentNode.parentElement.getBoundingClientRect().height) return true;
		}
	})()`, text)
	var bytes, memory int
	for b.Loop() {
		b.StopTimer()
		p := webtest.Open(b, "about:blank")
		p.Expect("") // what others' pages say on the console is theirs
		b.StartTimer()
		p.Go(address)
		p.Wait(stands)
		b.StopTimer()
		bytes, memory = max(bytes, p.Bytes()), max(memory, largestRenderer())
		p.Close()
		b.StartTimer()
	}
	b.ReportMetric(float64(bytes)/1e3, "kB")
	b.ReportMetric(float64(memory)/1e6, "MB-renderer")
}

// writeForOthers writes trajectories of the same texts as largeTurn as JSON lines.
func writeForOthers(b *testing.B, trajectories, turns, output int) string {
	type turn struct {
		Thought string `json:"thought"`
		Command string `json:"command"`
		Output  string `json:"output"`
	}
	name := filepath.Join(b.TempDir(), "trajectories.jsonl")
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	lines := json.NewEncoder(f)
	for i := range trajectories {
		t := struct {
			ID       string `json:"id"`
			Problem  string `json:"problem"`
			Resolved bool   `json:"resolved"`
			Turns    []turn `json:"turns"`
		}{ID: fmt.Sprintf("task-%d", i), Problem: "TimeDelta serialization is off by one.", Resolved: true}
		for k := 1; k <= turns; k++ {
			t.Turns = append(t.Turns, turn{largeThought(k), largeCommand(k), largeOutput(k, output)})
		}
		if err := lines.Encode(t); err != nil {
			b.Fatal(err)
		}
	}
	return name
}

func program(b *testing.B, name string, arguments ...string) {
	if out, err := exec.Command(name, arguments...).CombinedOutput(); err != nil {
		b.Fatalf("%s %v: %v\n%s", name, arguments, err, out)
	}
}

func freePort(b *testing.B) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String()) // it is one
	return port
}

// onlyFile is the name of the one file in a folder.
func onlyFile(folder string) string {
	all, _ := filepath.Glob(filepath.Join(folder, "*")) // a pattern that is right
	if len(all) != 1 {
		panic(fmt.Sprintf("%d files in %s", len(all), folder))
	}
	return filepath.Base(all[0])
}
