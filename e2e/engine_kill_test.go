package e2e

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"relabel"
	"relabel/envs/docker/dockertest"
	"relabel/policy/scripted"
)

// tollgate is a way to the machine's Docker engine. A worker that asks for something
// certain dies there, before the engine hears of it or when it has done it.
type tollgate struct {
	address string
	mu      sync.Mutex
	fatal   *regexp.Regexp // method, path and query; nil for none
	done    bool           // the engine is to have done it first
	worker  *process
}

func newTollgate(t *testing.T) *tollgate {
	t.Helper()
	g := &tollgate{}
	socket := filepath.Join(t.TempDir(), "docker.sock")
	listener, err := net.Listen("unix", socket)
	noError(t, err)
	g.address = "unix://" + socket
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "docker"})
	proxy.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", "/var/run/docker.sock")
	}}
	proxy.FlushInterval = -1
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	proxy.ModifyResponse = func(r *http.Response) error { g.pass(r.Request, true); return nil }
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.pass(r, false)
		proxy.ServeHTTP(w, r.WithContext(context.WithoutCancel(r.Context()))) // the engine completes the request
	})}
	go func() { _ = server.Serve(listener) }() // until it is closed
	t.Cleanup(func() { _ = server.Close() })
	return g
}

// pass kills the worker if this is what it dies of.
func (g *tollgate) pass(r *http.Request, done bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.fatal == nil || done != g.done || !g.fatal.MatchString(r.Method+" "+r.URL.RequestURI()) {
		return
	}
	g.fatal = nil
	_ = g.worker.cmd.Process.Kill() // wait reports whether it died
	<-g.worker.done
}

// arm lets the worker die of what matches.
func (g *tollgate) arm(worker *process, fatal string, done bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.worker, g.fatal, g.done = worker, regexp.MustCompile(fatal), done
}

// TestAWorkerKilledAtAnyCallToTheEngineLeavesNothing kills workers in the making, the use,
// the verification and the removal of sandboxes, before the engine hears of it and before
// its answer arrives. Its successors find what was left, and the trajectories continue.
func TestAWorkerKilledAtAnyCallToTheEngineLeavesNothing(t *testing.T) {
	t.Parallel()
	l, gate := newLab(t), newTollgate(t)
	m := newModels(t, l, scripted.Config{})
	l.env = append(l.env, "RELABEL_LEASE=4s", "RELABEL_ROLLOUTS=2", "RELABEL_PREFETCH=0")
	b := &bench{lab: l}
	b.server, b.api = l.serve(t, "--no-work")
	b.seed(t, m.teacher())
	iteration := b.start(t, b.run(t, "killed", nil), b.policy(t, m.student("0.9")), map[string]any{"beta": 1})
	watched := l.place
	watched.env = append(watched.env, "DOCKER_HOST="+gate.address)
	const rollout, verification = `containers/create\?name=relabel-.*-rollout`, `containers/create\?name=relabel-.*-verify`
	for _, fatal := range []string{rollout, "containers/.*/attach", "containers/.*/start", "^DELETE .*containers/", verification} {
		for _, done := range []bool{false, true} {
			w := watched.start(t, "worker")
			gate.arm(w, fatal, done)
			eventually(t, fmt.Sprintf("a worker dies at %s (done: %v)", fatal, done), func() bool {
				select {
				case <-w.done:
					return true
				default:
					return false
				}
			})
		}
	}
	last := l.start(t, "worker").tellOnFailure()
	for _, j := range b.finish(t, iteration).trajectories {
		if j.State != relabel.Done || j.Resolved == nil || !*j.Resolved {
			t.Errorf("%s is %s, resolved %v: %s", j.InstanceID, j.State, j.Resolved, j.FailureDetail)
		}
		for i, turn := range j.turns {
			if turn.T != i+1 || turn.Label == nil || turn.Label.Status != relabel.Received {
				t.Errorf("turn %d stands in place %d with label %v", turn.T, i+1, turn.Label)
			}
		}
	}
	instance := l.instance(t)
	eventually(t, "no sandbox is left", func() bool { return len(l.sandboxes(t, instance)) == 0 })
	if code := last.signal(syscall.SIGTERM); code != 0 {
		t.Errorf("it ended with %d: %s", code, last.said.String())
	}
}

// The only engine is killed in the middle of a turn and started again. Nothing fails, and no
// turn is there twice.
func TestTrajectoriesSurviveARestartOfTheirEngine(t *testing.T) {
	t.Parallel()
	l, engine := newLab(t), dockertest.StartEngine(t, "")
	engine.LoadImage(l.tasks[0].Image)
	m := newModels(t, l, scripted.Config{TeacherDelay: 100 * time.Millisecond})
	l.env = append(l.env, "RELABEL_ROLLOUTS=2", "RELABEL_PREFETCH=0", "DOCKER_HOST="+engine.Address())
	b := newBench(t, l, m.teacher())
	iteration := b.start(t, b.run(t, "restarted", nil), b.policy(t, m.student("0.9")), map[string]any{"beta": 1})
	eventually(t, "turns are committed", func() bool {
		all, err := b.api.Trajectories(t.Context(), url.Values{"state": {"running"}})
		noError(t, err)
		return len(all) == 2 && all[0].Turns > 0 && all[1].Turns > 0
	})
	engine.Kill()
	eventually(t, "it is not ready", func() bool {
		code, _ := b.api.status(t, http.MethodGet, "/readyz", "")
		return code == http.StatusServiceUnavailable
	})
	if code, _ := b.api.status(t, http.MethodGet, "/healthz", ""); code != http.StatusOK {
		t.Errorf("it does not live: %d", code)
	}
	engine.Start()
	resumed := 0
	for _, j := range b.finish(t, iteration).trajectories {
		if j.State != relabel.Done || len(j.turns) != j.Turns || j.Resolved == nil || !*j.Resolved {
			t.Errorf("%s is %s with %d turns of %d, resolved %v: %s", j.InstanceID, j.State, len(j.turns), j.Turns, j.Resolved, j.FailureDetail)
		}
		a := b.attempts(t, j.ID)
		if len(a) > 1 && strings.Contains(a[0].Reason, "engine") && a[0].ContinuedBy != nil {
			resumed++
		}
	}
	if resumed == 0 {
		t.Error("no trajectory went on from what it was")
	}
}
