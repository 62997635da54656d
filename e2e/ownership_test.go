package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"relabel"
	"relabel/policy/scripted"
)

// sleeper is a model that orders long naps, and another that never answers.
type sleeper struct {
	answered atomic.Int32 // naps that were ordered
	waiting  atomic.Int32 // callers that are kept waiting
	left     atomic.Int32 // and those that have gone
}

func (s *sleeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/never") {
		// The body is read, or the server would not notice that the caller has gone.
		buffer := make([]byte, 1<<20)
		for err := error(nil); err == nil; _, err = r.Body.Read(buffer) {
		}
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			<-r.Context().Done() // a probe, which a slow machine brings about
			return
		}
		s.waiting.Add(1)
		<-r.Context().Done()
		s.left.Add(1)
		return
	}
	s.answered.Add(1)
	_, _ = w.Write([]byte(`{"choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":"",
		"tool_calls":[{"id":"1","type":"function","function":{"name":"execute_bash","arguments":"{\"command\":\"sleep 86399\"}"}}]}}]}`))
}

// naps counts the naps that are taken in the lab's sandboxes.
func (l *lab) naps(t testing.TB, instance string) int {
	t.Helper()
	n := 0
	for _, c := range l.sandboxes(t, instance) {
		top, err := l.engine.ContainerTop(bounded(t), c.ID, nil)
		if err != nil {
			continue // it has ended meanwhile
		}
		for _, process := range top.Processes {
			if slices.Contains(process, "sleep 86399") {
				n++
			}
		}
	}
	return n
}

// nothingElse are limits so long that nothing but what a test does ends its turn.
var nothingElse = map[string]any{"limits": map[string]any{"wall_clock_seconds": 86400, "command_seconds": 86400}}

// A call that would never be answered and a command that would sleep for a day end with
// their iteration: leases and limits are so long that nothing else can end them.
func TestCancelEndsCallsAndCommandsAtOnce(t *testing.T) {
	t.Parallel()
	l, s := newLab(t), &sleeper{}
	l.env = append(l.env, "RELABEL_LEASE=1h")
	url := listenFor(t, s)
	endless := relabel.PolicyLimits{Concurrency: 4, TimeoutSeconds: 3600}
	b := newBench(t, l, relabel.Policy{Name: "never", BaseURL: url + "/never/v1", Model: "m", Limits: endless})
	student := b.policy(t, relabel.Policy{Name: "naps", BaseURL: url + "/v1", Model: "m", Limits: endless})
	run := b.run(t, "endless", nothingElse)
	iteration := b.start(t, run, student, map[string]any{"beta": 0})
	instance := l.instance(t)
	eventually(t, "two agents sleep and two labels are waited for", func() bool { return l.naps(t, instance) == 2 && s.waiting.Load() == 2 })
	start := time.Now()
	if said := l.must(t, "run", "cancel", "endless"); !strings.Contains(said, "cancelled") {
		t.Errorf("it says %s", said)
	}
	told := time.Since(start)
	eventually(t, "calls and commands have ended", func() bool { return s.left.Load() == 2 && l.naps(t, instance) == 0 })
	t.Logf("cancelled in %s, everything had ended %s after the beginning", told.Round(time.Millisecond), time.Since(start).Round(time.Millisecond))
	eventually(t, "no sandbox is left", func() bool { return len(l.sandboxes(t, instance)) == 0 })
	r := b.finish(t, iteration)
	for _, j := range r.trajectories {
		if j.State != relabel.Cancelled {
			t.Errorf("%s is %s", j.InstanceID, j.State)
		}
	}
	var ends int
	noError(t, l.connect(t).QueryRow(t.Context(), "SELECT count(*) FROM events WHERE iteration_id = $1 AND trajectory_id IS NOT NULL AND state IN ('done', 'failed', 'cancelled')", iteration).Scan(&ends))
	if ends != 2 || r.State != relabel.IterationCancelled {
		t.Errorf("%d ends of two trajectories, %s", ends, r.State)
	}
}

// A worker that is stopped as by a debugger is dead to the others. When it wakes up its
// trajectories are theirs, and it writes nothing into them.
func TestAWorkerThatResumesAfterATakeoverReleasesItsTrajectory(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	m := newModels(t, l, scripted.Config{TeacherDelay: 400 * time.Millisecond})
	l.env = append(l.env, "RELABEL_LEASE=4s", "RELABEL_ROLLOUTS=1", "RELABEL_PREFETCH=0")
	b := &bench{lab: l}
	b.server, b.api = l.serve(t, "--no-work")
	b.seed(t, m.teacher())
	iteration := b.start(t, b.run(t, "sleepy", map[string]any{"instances": []string{"calc__add"}}), b.policy(t, m.student("0.9")), map[string]any{"beta": 1})
	first := l.start(t, "worker")
	var id relabel.ID
	eventually(t, "a turn is committed", func() bool {
		all, err := b.api.Trajectories(t.Context(), url.Values{"state": {"running"}})
		noError(t, err)
		if len(all) == 0 || all[0].Turns == 0 {
			return false
		}
		id = all[0].ID
		return true
	})
	noError(t, first.cmd.Process.Signal(syscall.SIGSTOP))
	second := l.start(t, "worker", "--rollouts", "2")
	eventually(t, "the other worker has taken it over", func() bool {
		var j relabel.Trajectory
		noError(t, b.api.get(t.Context(), "/v1/trajectories/"+id.String(), &j))
		return j.Attempt == 2
	})
	if table := l.must(t, "worker", "list"); strings.Count(table, "working") < 1 || strings.Count(table, "\n") != 3 {
		t.Errorf("the workers are\n%s", table)
	}
	noError(t, first.cmd.Process.Signal(syscall.SIGCONT))
	eventually(t, "the first worker loses its lease", func() bool { return strings.Contains(first.said.String(), "lease lost") })
	r := b.finish(t, iteration)
	j := r.trajectories[0]
	var page struct{ Items []relabel.Attempt }
	noError(t, b.api.get(t.Context(), "/v1/trajectories/"+id.String()+"/attempts", &page))
	if j.State != relabel.Done || j.Attempt != 2 || len(page.Items) != 2 || page.Items[0].Outcome != "lost" || page.Items[1].Outcome != "done" {
		t.Errorf("%s after %+v", j.State, page.Items)
	}
	instance := l.instance(t)
	for _, p := range []*process{first, second, b.server} {
		if code := p.signal(syscall.SIGTERM); code != 0 {
			t.Errorf("it ended with %d: %s", code, p.said.String())
		}
	}
	if left := l.sandboxes(t, instance); len(left) > 0 {
		t.Errorf("%d sandboxes are left", len(left))
	}
}

// A stop wastes no model call: each paid answer is a turn.
func TestADrainFinishesTheRunningTurn(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	m := newModels(t, l, scripted.Config{TeacherDelay: time.Second})
	b := newBench(t, l, m.teacher())
	iteration := b.start(t, b.run(t, "drained", nil), b.policy(t, m.student("0.9")), map[string]any{"beta": 1})
	eventually(t, "models are asked", func() bool { return m.count() >= 4 })
	if code := b.server.signal(syscall.SIGTERM); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	if !strings.Contains(b.server.said.String(), "released=2") && !strings.Contains(b.server.said.String(), `"released":2`) {
		t.Error("it does not say what went back")
	}
	asked, conn := m.count(), l.connect(t)
	var turns, workers int
	noError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM turns").Scan(&turns))
	noError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM workers").Scan(&workers))
	if turns != asked || workers != 0 {
		t.Errorf("%d turns of %d questions; %d workers are left", turns, asked, workers)
	}
	b.server, b.api = l.serve(t)
	if r := b.finish(t, iteration); r.State != relabel.IterationDone || r.Progress.Trajectories[relabel.Done] != 2 {
		t.Errorf("%s, %+v", r.State, r.Progress)
	}
}

func TestASecondSignalCancelsTheRunningTurn(t *testing.T) {
	t.Parallel()
	l, s := newLab(t), &sleeper{}
	l.env = append(l.env, "RELABEL_GRACE=24h")
	url := listenFor(t, s)
	endless := relabel.PolicyLimits{Concurrency: 4, TimeoutSeconds: 3600}
	b := newBench(t, l, relabel.Policy{Name: "never", BaseURL: url + "/never/v1", Model: "m", Limits: endless})
	b.start(t, b.run(t, "endless", nothingElse), b.teacher, map[string]any{"beta": 1})
	eventually(t, "calls are in hand", func() bool { return s.waiting.Load() == 2 })
	noError(t, b.server.cmd.Process.Signal(syscall.SIGTERM))
	eventually(t, "it drains", func() bool { return strings.Contains(l.must(t, "worker", "list"), "draining") })
	if s.left.Load() != 0 {
		t.Error("the drain cut a call")
	}
	if code := b.server.signal(syscall.SIGTERM); code != 0 || s.left.Load() != 2 {
		t.Errorf("it ended with %d, %d calls were ended", code, s.left.Load())
	}
	var outcomes string
	noError(t, l.connect(t).QueryRow(t.Context(), "SELECT string_agg(outcome, ' ') FROM attempts").Scan(&outcomes))
	if outcomes != "released released" {
		t.Errorf("the attempts are %s", outcomes)
	}
}

// The commands that set priorities, pause and retry.
func TestRunsArePausedAndRetriedFromTheCommandLine(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	m := newModels(t, l, scripted.Config{})
	b := newBench(t, l, m.teacher())
	run := b.run(t, "patient", nil)
	if said := l.must(t, "run", "pause", "patient", "--text", "the checkpoint is not there yet"); !strings.Contains(said, "paused (user: the checkpoint is not there yet)") {
		t.Errorf("pause says %s", said)
	}
	if said := l.must(t, "run", "set", "patient", "--priority", "7", "--quota", "1"); said != "patient: priority 7, quota 1, budget none\n" {
		t.Errorf("set says %s", said)
	}
	// An endpoint that answers, but has no such model: one that is down would be waited for.
	nobody := b.policy(t, relabel.Policy{Name: "nobody", BaseURL: listenFor(t, http.NotFoundHandler()) + "/v1", Model: "none", Limits: relabel.PolicyLimits{Concurrency: 1, TimeoutSeconds: 5}})
	iteration := b.start(t, run, nobody, map[string]any{"beta": 0})
	if said := l.must(t, "run", "pause", iteration.String()); !strings.Contains(said, "collect 1: running paused (user)") {
		t.Errorf("pause says %s", said)
	}
	if said := l.must(t, "run", "resume", "patient"); strings.Contains(said, "checkpoint") || !strings.Contains(said, "collect 1") {
		t.Errorf("resume says %s", said)
	}
	if table := l.must(t, "run", "show", "patient"); !strings.Contains(table, "0 of 2") || !strings.Contains(table, "paused") || !strings.Contains(table, iteration.String()) {
		t.Errorf("while its iteration is paused:\n%s", table)
	}
	eventually(t, "top shows that it is paused", func() bool {
		return regexp.MustCompile(`(?m)^patient +paused +0 of 2 `).MatchString(l.must(t, "top", "--once"))
	})
	l.must(t, "run", "resume", iteration.String())
	if r := b.finish(t, iteration); r.Progress.Trajectories[relabel.Failed] != 2 {
		t.Errorf("nobody answers, and yet %+v", r.Progress)
	}
	if said := l.must(t, "run", "retry", iteration.String(), "--reason", "environment"); said != "0 queued again\n" {
		t.Errorf("retry says %s", said)
	}
	if said := l.must(t, "run", "retry", iteration.String(), "--reason", "environment,endpoint"); said != "2 queued again\n" {
		t.Errorf("retry says %s", said)
	}
	if r := b.finish(t, iteration); r.Progress.Trajectories[relabel.Failed] != 2 || r.trajectories[0].Attempt != 2 {
		t.Errorf("after the retry %+v", r.Progress)
	}
	if table := l.must(t, "worker", "list"); !strings.Contains(table, "working") || !strings.Contains(table, fmt.Sprint(b.server.cmd.Process.Pid)) {
		t.Errorf("the workers are\n%s", table)
	}
}
