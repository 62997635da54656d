package e2e

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"relabel"
	"relabel/policy/scripted"
)

// TestAStopReleasesTrajectoriesAndTheNextStartFinishesThem ends a server, in its own
// ways, while turns are being committed, with a database of its own.
func TestAStopReleasesTrajectoriesAndTheNextStartFinishesThem(t *testing.T) {
	for _, c := range []struct {
		name    string
		signal  syscall.Signal
		exit    int
		outcome string // of the attempts that were cut off
	}{
		{"SIGTERM", syscall.SIGTERM, 0, "released"},
		{"SIGINT", syscall.SIGINT, 0, "released"},
		{"SIGKILL", syscall.SIGKILL, -1, "lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStopped(t)
			instance, postgres := s.instance(t), s.postmaster(t)
			if code := s.server.signal(c.signal); code != c.exit {
				t.Errorf("it ended with %d, want %d", code, c.exit)
			}
			if c.signal == syscall.SIGKILL {
				if !alive(postgres) {
					t.Error("the local Postgres went with it")
				}
			} else {
				s.givenBack(t, instance)
			}
			said := s.again(t)
			if adopted := s.postmaster(t) == postgres; adopted != (c.signal == syscall.SIGKILL) {
				t.Errorf("adopted the Postgres that ran: %v", adopted)
			}
			if c.signal == syscall.SIGKILL && strings.Count(said.String(), "worker is gone: requeued its trajectory") != 2 {
				t.Errorf("it does not say what it recovered")
			}
			r := s.finish(t, s.iteration)
			if r.State != relabel.IterationDone || r.Progress.LabelsReceived != r.Progress.Turns || r.Progress.LabelsMissed != 0 {
				t.Errorf("%s, %+v", r.State, r.Progress)
			}
			undisturbed := s.collect(t, s.run(t, "undisturbed", nil), s.student, map[string]any{"beta": 0.5})
			want := map[string]string{}
			for _, j := range undisturbed.trajectories {
				want[j.InstanceID] = story(j)
			}
			for _, j := range r.trajectories {
				s.resumed(t, j, c.outcome)
				if got := story(j); got != want[j.InstanceID] {
					t.Errorf("it came to\n%s\nand undisturbed to\n%s", got, want[j.InstanceID])
				}
			}
			if left := s.sandboxes(t, instance); len(left) > 0 {
				t.Errorf("%d sandboxes are left", len(left))
			}
		})
	}
}

// story is what was done, answered and found in a trajectory, but for ids and times.
func story(j rolled) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s %v\n", j.InstanceID, j.State, j.EndReason, *j.Resolved)
	for _, turn := range j.turns {
		fmt.Fprintf(&b, "%d %s %s\n  label %s\n", turn.T, turn.Executor, turn.Action.Raw, turn.Label.Raw)
		for _, o := range turn.Observations {
			fmt.Fprintf(&b, "  %q\n", clock.ReplaceAllString(o.Content, "once"))
		}
	}
	return b.String()
}

// stopped is a bench with an iteration in the middle of its turns.
type stopped struct {
	*bench
	iteration relabel.ID
	student   relabel.Policy
}

// newStopped starts an iteration and returns when each trajectory has a committed turn.
func newStopped(t *testing.T) *stopped {
	t.Helper()
	l := newLocalLab(t, openFolder(t))
	slow := scripted.Config{TeacherDelay: 300 * time.Millisecond, StudentDelay: 100 * time.Millisecond}
	m := newModels(t, l, slow)
	s := &stopped{bench: newBench(t, l, m.teacher())}
	run := s.run(t, "interrupted", nil)
	s.student = s.policy(t, m.student("0.9"))
	s.iteration = s.start(t, run, s.student, map[string]any{"beta": 0.5})
	eventually(t, "turns are committed", func() bool {
		all, err := s.api.Trajectories(t.Context(), url.Values{"state": {"running"}})
		noError(t, err)
		return len(all) == 2 && all[0].Turns > 0 && all[1].Turns > 0
	})
	return s
}

// givenBack checks the output and the results of an orderly stop.
func (s *stopped) givenBack(t *testing.T, instance string) {
	t.Helper()
	if left := s.sandboxes(t, instance); len(left) > 0 {
		t.Errorf("%d sandboxes are left, as %v", len(left), left[0].Labels)
	}
	said := s.server.said.String()
	for _, task := range s.tasks[:2] {
		found := false
		for _, line := range strings.Split(said, "\n") {
			found = found || strings.Contains(line, task.InstanceID) && strings.Contains(line, `"is queued"`)
		}
		if !found {
			t.Errorf("it does not say what became of %s", task.InstanceID)
		}
	}
	if !strings.Contains(said, "trajectories: 2 queued") {
		t.Error("it does not count what there is")
	}
	// The commands find the data folder without a server.
	if table := s.must(t, "run", "trajectories", "interrupted", "--state", "queued"); strings.Count(table, "calc__") != 2 {
		t.Errorf("the database says\n%s", table)
	}
}

// again starts another server in the place of the one that ended.
func (s *stopped) again(t *testing.T) *words {
	t.Helper()
	p, c := s.serve(t)
	*s.api, s.server = *c, p
	return &p.said
}

// resumed checks a trajectory that was cut off and finished by a second attempt.
func (s *stopped) resumed(t *testing.T, j rolled, outcome string) {
	t.Helper()
	var page struct{ Items []relabel.Attempt }
	noError(t, s.api.get(t.Context(), "/v1/trajectories/"+j.ID.String()+"/attempts", &page))
	attempts := page.Items
	if j.State != relabel.Done || j.Attempt != 2 || len(attempts) != 2 {
		t.Fatalf("%s is %s after %d attempts, %s %s", j.InstanceID, j.State, len(attempts), j.Failure, j.FailureDetail)
	}
	if attempts[0].Outcome != outcome || attempts[0].EndedAt == nil || attempts[1].Outcome != "done" {
		t.Errorf("the attempts ended %s (%s) and %s", attempts[0].Outcome, attempts[0].Reason, attempts[1].Outcome)
	}
	for i, turn := range j.turns {
		if turn.T != i+1 || turn.Label == nil || turn.Label.Status != relabel.Received {
			t.Errorf("turn %d stands in place %d with label %v", turn.T, i+1, turn.Label)
		}
	}
	if len(j.turns) != j.Turns || j.Turns == 0 {
		t.Errorf("%d turns are shown of %d", len(j.turns), j.Turns)
	}
	if by := attempts[0].ContinuedBy; by == nil || *by != 2 {
		t.Errorf("the second attempt did not go on from the first's turns: %+v", attempts)
	}
	again := 0 // turns whose executor both attempts asked: at most the running one
	asked := map[int]int{}
	for _, call := range j.calls {
		if call.Purpose == relabel.PurposeAct {
			if asked[call.T]++; asked[call.T] > 1 {
				again++
			}
		}
	}
	if again > 1 || asked[1] != 1 {
		t.Errorf("%d turns were asked for again, turn 1 %d times", again, asked[1])
	}
}

// postmaster is the process id of the local Postgres.
func (s *stopped) postmaster(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.data, "postgres", "data", "postmaster.pid"))
	noError(t, err)
	pid, _, _ := strings.Cut(string(b), "\n")
	return pid
}

// alive reports whether a process is there.
func alive(pid string) bool {
	_, err := os.Stat("/proc/" + pid)
	return err == nil
}
