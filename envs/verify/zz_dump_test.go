package verify

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"relabel"
	"relabel/envs"
	"relabel/envs/verify/canary"
	"relabel/envs/verify/protect"
	"relabel/envs/verify/results"
	"relabel/envs/verify/testcmd"
	"relabel/envs/verify/tree"
)

var _ = xml.Header

type localRepo struct{ dir, index string }

func (l localRepo) Index() string { return l.index }
func (l localRepo) Read(_ context.Context, name string, max int64) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(l.dir, name))
	return data[:min(int64(len(data)), max)], err
}
func (l localRepo) Run(_ context.Context, doing, script string, stdin []byte, output int, args ...string) (envs.Result, string) {
	cmd := exec.Command("bash", append([]string{"-c", script, "bash"}, args...)...)
	cmd.Dir, cmd.Stdin, cmd.Env = l.dir, bytes.NewReader(stdin), append(os.Environ(), trustRepository...)
	out, err := cmd.Output()
	r := envs.Result{Output: out, Ended: envs.EndedExit}
	if err != nil {
		r.Exit = cmd.ProcessState.ExitCode()
	}
	return r, ""
}

func header(comment []byte) map[string]string {
	h := map[string]string{}
	for _, l := range strings.Split(string(comment), "\n") {
		if k, v, ok := strings.Cut(l, ": "); ok {
			h[k] = strings.TrimSpace(v)
		}
	}
	return h
}

func commas(s string) []string {
	p := strings.Split(s, ",")
	for i := range p {
		p[i] = strings.TrimSpace(p[i])
	}
	return p
}

func TestZZDump(t *testing.T) {
	out, err := os.Create(os.Getenv("ZZ_DUMP"))
	if err != nil {
		t.Skip("no ZZ_DUMP")
	}
	defer out.Close()
	tasks := map[string]relabel.Task{}
	dirs := map[string]string{}
	taskFiles, _ := filepath.Glob("forgeries/testdata/tasks/*.txtar")
	git := func(dir string, args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@invalid",
			"GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@invalid", "GIT_AUTHOR_DATE=2020-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2020-01-01T00:00:00Z")
		o, err := cmd.Output()
		if err != nil {
			t.Logf("git %v: %v", args, err)
		}
		return string(o)
	}
	write := func(dir string, files []txtar.File, prefix string) {
		for _, f := range files {
			name, ok := strings.CutPrefix(f.Name, prefix)
			if !ok || name == "run" {
				continue
			}
			name = strings.TrimSuffix(name, " (executable)")
			full := filepath.Join(dir, name)
			os.MkdirAll(filepath.Dir(full), 0o755)
			os.WriteFile(full, f.Data, 0o644)
		}
	}
	for _, path := range taskFiles {
		data, _ := os.ReadFile(path)
		a := txtar.Parse(data)
		h := header(a.Comment)
		dir := t.TempDir()
		write(dir, a.Files, "base/")
		git(dir, "init", "-q")
		git(dir, "add", "-A")
		git(dir, "commit", "-q", "-m", "base")
		patch := func(prefix string) string {
			write(dir, a.Files, prefix)
			git(dir, "add", "-A")
			d := git(dir, "diff", "--no-color", "--cached", "HEAD")
			git(dir, "reset", "-q", "--hard")
			return d
		}
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		task := relabel.Task{InstanceID: name, Workdir: "/testbed", TestCmd: h["command"], LogParser: h["parser"], FailToPass: commas(h["fail_to_pass"]), PassToPass: commas(h["pass_to_pass"])}
		task.Patch, task.TestPatch = patch("gold/"), patch("tests/")
		tasks[name], dirs[name] = task, dir
		// gardens with the test patch applied
		contents := map[string]string{}
		for _, f := range a.Files {
			if n, ok := strings.CutPrefix(f.Name, "base/"); ok {
				contents[strings.TrimSuffix(n, " (executable)")] = string(f.Data)
			}
		}
		for _, f := range a.Files {
			if n, ok := strings.CutPrefix(f.Name, "tests/"); ok {
				contents[strings.TrimSuffix(n, " (executable)")] = string(f.Data)
			}
		}
		_, parser := testcmd.Of(task)
		maker := canaryMakers[testcmd.ShortParser(parser)]
		fmt.Fprintf(out, "## task %s maker %v\n", name, maker)
		if maker == nil {
			continue
		}
		plants := func(label string, task relabel.Task, command string, late bool, left map[string]bool, seed uint64) canary.Planting {
			g := canary.Garden{
				Task: task, Command: command, Random: rand.New(rand.NewPCG(seed, 2)), Left: left, Late: late,
				Base: tree.NewPathSet(slices.Sorted(maps.Keys(contents))),
				Has: func(n string) bool {
					if _, ok := contents[n]; ok {
						return true
					}
					for f := range contents {
						if strings.HasPrefix(f, n+"/") {
							return true
						}
					}
					return false
				},
				Read: func(n string) ([]byte, bool) { c, ok := contents[n]; return []byte(c), ok },
			}
			p, ok := canary.Plant(maker, g)
			fmt.Fprintf(out, "## %s %s seed %d: %v %+v\n", name, label, seed, ok, p)
			for _, left := range []map[string]bool{nil, {canary.BelowKey: true}, {"": true}} {
				fmt.Fprintf(out, "%v ", p.Remains(left))
			}
			for _, log := range []string{"", "x"} {
				o := results.Outcomes{}
				for i, c := range p.Canaries {
					if log == "" || i%2 == 0 {
						o["a/"+c.Name] = c.Status
					}
				}
				fmt.Fprintf(out, "%v %v\n", p.Misses([]byte(log), o, nil, 0), p.CutShort(o, nil))
			}
			return p
		}
		var keys []string
		for seed := uint64(1); seed < 6; seed++ {
			p := plants("plain", task, task.TestCmd, false, nil, seed)
			for _, c := range p.Canaries {
				keys = append(keys, c.Key)
			}
		}
		plants("late", task, task.TestCmd, true, nil, 7)
		slices.Sort(keys)
		for i, k := range slices.Compact(append(keys, canary.BelowKey, canary.ExitKey)) {
			if i < 25 || k == canary.BelowKey || k == canary.ExitKey {
				plants("left "+k, task, task.TestCmd, false, map[string]bool{k: true}, 9)
			}
		}
		bare := task
		bare.TestPatch = ""
		plants("no test patch", bare, task.TestCmd, false, nil, 3)
		bare.FailToPass = bare.PassToPass
		plants("no f2p", bare, task.TestCmd, false, nil, 3)
		plants("stopping", task, task.TestCmd+" -f", false, nil, 3)
		plants("piped", task, task.TestCmd+" | tee log", false, nil, 3)
		plants("cd", task, "cd src && "+task.TestCmd, false, nil, 3)
		plants("other", task, "make test", false, nil, 3)
	}
	for _, folder := range strings.Fields(os.Getenv("ZZ_FOLDERS")) {
		paths, _ := filepath.Glob("forgeries/testdata/" + folder + "/*.txtar")
		for _, path := range paths {
			data, _ := os.ReadFile(path)
			a := txtar.Parse(data)
			task := tasks[header(a.Comment)["task"]]
			dir := dirs[task.InstanceID]
			for _, f := range a.Files {
				if f.Name != "run" {
					os.RemoveAll(filepath.Join(dir, f.Name))
				}
			}
			write(dir, a.Files, "")
			git(dir, "add", "-A", "-f")
			d := git(dir, "diff", "--no-color", "--binary", "--cached", "HEAD")
			git(dir, "reset", "-q", "--hard")
			git(dir, "clean", "-fdxq")
			repo := localRepo{dir: dir, index: filepath.Join(t.TempDir(), "index")}
			r, _ := repo.Run(context.Background(), "", readScript, []byte(d), 0, repo.Index(), "", inspectProgram, "", "python3")
			reading, ok := tree.ParseReading(r.Output)
			fmt.Fprintf(out, "## %s %s: %d %v %s %+v\n", folder, path, r.Exit, ok, reading.Tree, reading.Changes)
			for _, own := range []bool{false, true} {
				decision, problem := protect.Decide(context.Background(), repo, task, reading, own)
				fmt.Fprintf(out, "%v: %q %+v %v\n", own, problem, decision.Dropped, decision.Guarded)
			}
			fmt.Fprintf(out, "unsafe %q\n", tree.Unsafe(reading.Changes))
		}
	}
	logs, _ := filepath.Glob("results/testdata/*")
	more := []string{"✓ a (1 ms)\n✕ b\n ○ skipped c\n", "--- PASS: TestA (0.00s)\n--- FAIL: TestA/b (0.1s)\nok  \ta/b\t0.1s\n--- SKIP: TestC (0.00s)\nFAIL\tx/y\t0.2s\n"}
	for i, log := range more {
		name := filepath.Join(t.TempDir(), fmt.Sprint(i))
		os.WriteFile(name, []byte(log), 0o644)
		logs = append(logs, name)
	}
	for _, log := range logs {
		data, _ := os.ReadFile(log)
		for _, name := range results.Parsers() {
			p, _ := results.ParserOf(name)
			o := p(data)
			fmt.Fprintf(out, "## %s %s %v\n", filepath.Base(log), name, o)
		}
		r := results.ParseReport(data)
		fmt.Fprintf(out, "report %v %v\n", r.Clean, r.Stained)
		fmt.Fprintf(out, "node %v\n", results.ParseNodeReport(data, "/x"))
	}
	for name, task := range tasks {
		_ = name
		for _, c := range []string{task.TestCmd, "cd a && npm test", "npx jest --ci", "npx vitest run --reporter verbose", "yarn t -- --x"} {
			report, ok := testcmd.NodeReportCommand(c, "/r", func(string) ([]byte, bool) {
				return []byte(`{"scripts":{"test":"jest --ci","t":"vitest --reporter=verbose"}}`), true
			})
			_ = report
			_ = ok
		}
	}
	for _, c := range []string{"cd a && npm test", "npx jest --ci", "npx vitest run --reporter verbose", "yarn t -- --x", "npm t", "npx jest --json", "a; npx jest", "npx jest; a"} {
		report, ok := testcmd.NodeReportCommand(c, "/r", func(string) ([]byte, bool) {
			return []byte(`{"scripts":{"test":"jest --ci","t":"vitest --reporter=verbose"}}`), true
		})
		fmt.Fprintf(out, "node report %q %v %q %+v %v\n", report, ok, c, testcmd.Words(c), testcmd.Interpreters(c))
	}
}
