package docker_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/docker/docker/pkg/stdcopy"
	"github.com/google/uuid"

	"relabel/envs"
	"relabel/envs/docker"
	"relabel/envs/docker/dockertest"
	"relabel/envs/envstest"
)

// BenchmarkCommand measures one tool call three ways, interleaved: by sandboxd, by a
// program inside the container, and by an exec of the engine. Wanted: sandboxd/inside at
// most 1.3, exec/sandboxd at least 20. The megabyte is read as a tool call reads it, whose
// output is cut to what a model is shown, and whole.
func BenchmarkCommand(b *testing.B) {
	sandbox := benchSandbox(b)
	engine := benchEngine(b)
	const beside = "/tmp/beside"
	if err := sandbox.WriteFile(b.Context(), beside, buildBeside(b), 0o755); err != nil {
		b.Fatal(err)
	}
	run(b, sandbox, []string{"bash", "-c", "cat /usr/lib/python3*/*.py | head -c 1048576 >/tmp/megabyte; test $(stat -c %s /tmp/megabyte) = 1048576"})
	for _, c := range []struct {
		name, script string
		maxOutput    int
	}{
		{"true", "/bin/true", 0}, {"megabyte", "cat /tmp/megabyte", 30_000}, {"megabyte-whole", "cat /tmp/megabyte", 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			var bySandboxd, inside, byExec []time.Duration
			shell := []string{"bash", "-c", c.script}
			turns := []func(){
				func() {
					for range 10 {
						bySandboxd = append(bySandboxd, timed(func() { runCut(b, sandbox, shell, c.maxOutput) }))
					}
				},
				func() { inside = append(inside, runBeside(b, sandbox, append([]string{beside, "10"}, shell...))...) },
			}
			for b.Loop() {
				turns[0]()
				turns[1]()
				slices.Reverse(turns) // an exec leaves the engine busy: what follows it bears that
				byExec = append(byExec, timed(func() { execOnce(b, engine, sandbox.ID(), shell) }))
			}
			b.ReportMetric(0, "ns/op") // of no meaning here
			b.ReportMetric(ms(p50(bySandboxd)), "sandboxd-p50-ms")
			b.ReportMetric(ms(p50(inside)), "inside-p50-ms")
			b.ReportMetric(ms(p50(byExec)), "exec-p50-ms")
			b.ReportMetric(ms(p50(bySandboxd))/ms(p50(inside)), "sandboxd/inside")
			b.ReportMetric(ms(p50(byExec))/ms(p50(bySandboxd)), "exec/sandboxd")
		})
	}
}

// BenchmarkStart measures the start of eight sandboxes at once against a bare create and
// start of the same containers, interleaved. Wanted: at most 1.3.
func BenchmarkStart(b *testing.B) {
	const atOnce = 8
	host, engine := dockertest.NewHost(b), benchEngine(b)
	var ours, bare []time.Duration
	for b.Loop() {
		sandboxes := make([]envs.Sandbox, atOnce)
		ours = append(ours, timed(func() {
			each(atOnce, func(i int) { sandboxes[i] = create(b, host) })
		}))
		like, err := engine.ContainerInspect(b.Context(), sandboxes[0].ID())
		if err != nil {
			b.Fatal(err)
		}
		each(atOnce, func(i int) { closeSandbox(b, sandboxes[i]) })
		ids := make([]string, atOnce)
		bare = append(bare, timed(func() {
			each(atOnce, func(i int) { ids[i] = startBare(b, engine, like) })
		}))
		each(atOnce, func(i int) {
			if err := engine.ContainerRemove(context.Background(), ids[i], container.RemoveOptions{Force: true}); err != nil {
				b.Error(err)
			}
		})
	}
	b.ReportMetric(0, "ns/op") // of no meaning here
	b.ReportMetric(ms(p50(ours)), "sandboxes-p50-ms")
	b.ReportMetric(ms(p50(bare)), "bare-p50-ms")
	b.ReportMetric(ms(p50(ours))/ms(p50(bare)), "sandboxes/bare")
}

// BenchmarkFingerprint measures the fingerprint of a repository of 20,000 files whose index
// is of another machine, as an image's is, with one file changed: the first time, when
// git reads every file, and later ones. Wanted: first/later at least 3.
func BenchmarkFingerprint(b *testing.B) {
	sandbox := benchSandbox(b)
	run(b, sandbox, []string{"bash", "-c", `set -e
git init -q . && for d in $(seq 200); do mkdir d$d; for f in $(seq 100); do head -c 4000 /dev/urandom >d$d/$f.py; done; done
git add -A && git -c user.name=a -c user.email=a@invalid commit -q -m base; find . -name '*.py' -exec touch -d '1 hour ago' {} +`})
	var first, later []time.Duration
	fingerprint := func() time.Duration {
		return timed(func() {
			if _, err := sandbox.Fingerprint(b.Context()); err != nil {
				b.Fatal(err)
			}
		})
	}
	for b.Loop() {
		run(b, sandbox, []string{"bash", "-c", "touch .git/index; date +%N >>d7/7.py"}) // another index invalidates the cache
		first = append(first, fingerprint())
		run(b, sandbox, []string{"bash", "-c", "date +%N >>d7/7.py"})
		later = append(later, fingerprint())
	}
	b.ReportMetric(0, "ns/op") // of no meaning here
	b.ReportMetric(ms(p50(first)), "first-p50-ms")
	b.ReportMetric(ms(p50(later)), "later-p50-ms")
	b.ReportMetric(ms(p50(first))/ms(p50(later)), "first/later")
}

// startBare creates and starts a container like ours that only sleeps.
func startBare(b *testing.B, engine *client.Client, like container.InspectResponse) string {
	config := *like.Config
	config.Entrypoint, config.Cmd = []string{"sleep", "1000"}, nil
	config.OpenStdin, config.StdinOnce, config.AttachStdin, config.AttachStdout, config.AttachStderr = false, false, false, false, false
	config.Hostname = ""
	made, err := engine.ContainerCreate(b.Context(), &config, like.HostConfig, nil, nil, "relabel-bare-"+uuid.NewString())
	if err == nil {
		err = engine.ContainerStart(b.Context(), made.ID, container.StartOptions{})
	}
	if err != nil {
		b.Error(err)
	}
	return made.ID
}

func benchEngine(b *testing.B) *client.Client {
	engine, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { engine.Close() })
	return engine
}

func benchSandbox(b *testing.B) envs.Sandbox {
	sandbox := create(b, dockertest.NewHost(b))
	b.Cleanup(func() { closeSandbox(b, sandbox) })
	return sandbox
}

func create(b *testing.B, host *docker.Host) envs.Sandbox {
	sandbox, err := host.Create(b.Context(), envs.Spec{
		Name: "relabel-bench-" + uuid.NewString(), Image: envstest.Image(b), Workdir: envstest.Workdir, Labels: envs.Labels{Purpose: "bench"},
	})
	if err != nil {
		b.Error(err)
	}
	return sandbox
}

func closeSandbox(b *testing.B, sandbox envs.Sandbox) {
	if err := sandbox.Close(context.Background()); err != nil {
		b.Error(err)
	}
}

func run(b *testing.B, sandbox envs.Sandbox, args []string) envs.Result {
	return runCut(b, sandbox, args, 0)
}

func runCut(b *testing.B, sandbox envs.Sandbox, args []string, maxOutput int) envs.Result {
	result, err := sandbox.Run(b.Context(), envs.Command{Args: args, MaxOutput: maxOutput})
	if err != nil || result.Exit != 0 || (result.Dropped != 0 && maxOutput == 0) {
		b.Fatalf("%v: exit %d, %d dropped, %v", args, result.Exit, result.Dropped, err)
	}
	return result
}

// runBeside returns what each run cost the program inside.
func runBeside(b *testing.B, sandbox envs.Sandbox, args []string) (times []time.Duration) {
	for _, line := range strings.Fields(string(run(b, sandbox, args).Output)) {
		ns, err := strconv.ParseInt(line, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Duration(ns))
	}
	return times
}

// execOnce runs a command as an exec of the engine.
func execOnce(b *testing.B, engine *client.Client, id string, args []string) {
	made, err := engine.ContainerExecCreate(b.Context(), id, container.ExecOptions{Cmd: args, AttachStdout: true, AttachStderr: true})
	if err != nil {
		b.Fatal(err)
	}
	attached, err := engine.ContainerExecAttach(b.Context(), made.ID, container.ExecAttachOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer attached.Close()
	if _, err := stdcopy.StdCopy(io.Discard, io.Discard, attached.Reader); err != nil {
		b.Fatal(err)
	}
}

func buildBeside(b *testing.B) []byte {
	path := filepath.Join(b.TempDir(), "beside")
	build := exec.Command("go", "build", "-o", path, "./testdata/beside")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	return program
}

func each(n int, do func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

func timed(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}

func p50(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }
