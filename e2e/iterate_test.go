package e2e

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"relabel"
	"relabel/policy/scripted"
)

func TestAnIterationWhoseTrajectoriesAllFailedFailsAndPrintsTheCauses(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.tasks[1].BaseCommit = strings.Repeat("f", 40)
	l.writeTasks(t)
	b := newBench(t, l, relabel.Policy{Name: "gone", BaseURL: listenFor(t, http.NotFoundHandler()) + "/v1", Model: "m"})
	b.run(t, "broken", nil)
	b.must(t, "policy", "add", "student", "--base-url", b.teacher.BaseURL, "--model", "m")
	said, code := b.command(t, "run", "iterate", "broken", "--student", "student", "--beta", "1")
	if code != 1 || !strings.HasSuffix(lastLine(said), "no trajectory of collect 1 is done: 2 of its 2 trajectories failed") {
		t.Errorf("it ended with %d: %s", code, said)
	}
	for _, want := range []string{"FAILED", "broken, collect 1: 2 failed", "1 × endpoint: teacher: ", "1 × environment: ", "no commit ffff"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q: %s", want, said)
		}
	}
	if table := b.must(t, "run", "trajectories", "broken"); !strings.Contains(table, "no commit "+l.tasks[1].BaseCommit) {
		t.Errorf("the details are not in\n%s", table)
	}
	if shown := b.must(t, "run", "show", "broken"); !strings.Contains(shown, "1 × endpoint") {
		t.Errorf("the causes are not in\n%s", shown)
	}
}

func TestAnInterruptedCommandNamesTheWorkThatContinues(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	b := newBench(t, l, relabel.Policy{Name: "silent", BaseURL: silence(t), Model: "m"})
	b.run(t, "waiting", nil)
	r := b.place.start(t, "run", "iterate", "waiting", "--student", "silent", "--beta", "1")
	var id string
	eventually(t, "the iteration is watched", func() bool {
		id, _, _ = strings.Cut(r.said.String(), "\n")
		return strings.Contains(r.said.String(), "0 of 2 trajectories")
	})
	if code := r.signal(syscall.SIGINT); code != 130 {
		t.Errorf("it ended with %d", code)
	}
	last := lastLine(r.said.String())
	for _, want := range []string{"collect 1 continues at the server", "`relabel run show waiting`", "`relabel run cancel " + id + "`"} {
		if !strings.Contains(last, want) || strings.Contains(last, "context canceled") {
			t.Errorf("it does not say %q: %s", want, last)
		}
	}
	again := b.place.start(t, "run", "iterate", "waiting", "--student", "silent", "--beta", "1")
	eventually(t, "the second one is watched", func() bool { return strings.Contains(again.said.String(), "0 of 2 trajectories") })
	second, _, _ := strings.Cut(again.said.String(), "\n")
	b.must(t, "run", "cancel", id)
	b.must(t, "run", "cancel", second)
	if code := again.wait(); code != 1 || !strings.Contains(lastLine(again.said.String()), "collect 2 was cancelled") {
		t.Errorf("who waited for what was cancelled ended with %d: %s", code, again.said.String())
	}
}

func TestAnIterationWithSomeTrajectoriesDoneSucceeds(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.tasks[1].Workdir = "/nowhere"
	l.writeTasks(t)
	m := newModels(t, l, scripted.Config{})
	b := newBench(t, l, m.teacher())
	b.run(t, "half", nil)
	said := b.must(t, "run", "iterate", "half", "--student", b.policy(t, m.student("0.5")).ID.String(), "--beta", "1")
	for _, want := range []string{"1 × environment: ", "in /nowhere"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q: %s", want, said)
		}
	}
}
