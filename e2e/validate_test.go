package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"

	"relabel"
	"relabel/api"
)

// wavers is a test of 300 cases, of which another one fails in each run: that it is the same one in three runs is one
// in 90,000.
const wavers = `import os

import pytest

unlucky = int.from_bytes(os.urandom(8), "big") % 300


@pytest.mark.parametrize("n", range(300))
def test_luck(n):
    assert n != unlucky
`

// flicker adds the cases of wavers to a task, and returns it.
func flicker(task relabel.Task) relabel.Task {
	lines := strings.Split(strings.TrimSuffix(wavers, "\n"), "\n")
	task.TestPatch += fmt.Sprintf("diff --git a/tests/test_luck.py b/tests/test_luck.py\nnew file mode 100644\n--- /dev/null\n+++ b/tests/test_luck.py\n@@ -0,0 +1,%d @@\n+%s\n",
		len(lines), strings.Join(lines, "\n+"))
	task.PassToPass = append([]string{}, task.PassToPass...)
	for n := range 300 {
		task.PassToPass = append(task.PassToPass, fmt.Sprintf("tests/test_luck.py::test_luck[%d]", n))
	}
	return task
}

// validating counts the containers that validate tasks of the lab and run.
func (l *lab) validating(t *testing.T) int {
	t.Helper()
	found, err := l.engine.ContainerList(bounded(t), container.ListOptions{Filters: filters.NewArgs(filters.Arg("ancestor", l.tasks[0].Image), filters.Arg("label", "relabel.instance=validate"))})
	noError(t, err)
	return len(found)
}

// leave makes a container as a killed validation leaves it, past its deadline, and returns its id.
func (l *lab) leave(t *testing.T) string {
	t.Helper()
	labels := map[string]string{"relabel.instance": "validate", "relabel.purpose": "validate", "relabel.trajectory": relabel.NewID().String(), "relabel.attempt": "0",
		"relabel.deadline": time.Now().Add(-time.Minute).Format(time.RFC3339)}
	made, err := l.engine.ContainerCreate(bounded(t), &container.Config{Image: l.tasks[0].Image, Labels: labels}, nil, nil, nil, "")
	noError(t, err)
	return made.ID
}

// TestAValidationOfATaskSetSurvivesInterruptionsAndRevisesTheSet validates three tasks, one of them flaky and one
// broken, with a Ctrl-C and a kill between.
func TestAValidationOfATaskSetSurvivesInterruptionsAndRevisesTheSet(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.tasks[1] = flicker(l.tasks[1])
	l.tasks[2].FailToPass = append([]string{"tests/test_shout.py::test_absent"}, l.tasks[2].FailToPass...)
	l.writeTasks(t)
	_, c := l.serve(t, "--no-work")
	l.must(t, "tasks", "import", l.file, "--name", "calc")
	set, err := c.Taskset(bounded(t), "calc")
	noError(t, err)
	command := []string{"tasks", "validate", "--taskset", "calc", "--times", "3", "--jobs", "2", "--drop-flaky", "--exclude-broken"}

	abandoned := l.leave(t)

	first := l.start(t, command...).tellOnFailure()
	eventually(t, "a task has a result", func() bool { return strings.Contains(first.said.String(), "[1/3]") })
	if code := first.signal(syscall.SIGINT); code != 130 || !strings.Contains(first.said.String(), "of 3 tasks have a result; the same command continues") {
		t.Errorf("after Ctrl-C it ends with %d: %s", code, first.said.String())
	}
	before := soundness(t, c, set.ID)
	if left := l.validating(t); left > 0 {
		t.Errorf("%d sandboxes are left after Ctrl-C", left)
	}
	if _, err := l.engine.ContainerInspect(bounded(t), abandoned); err == nil {
		t.Error("the container of a killed validation is there still")
	}
	second := l.start(t, command...).tellOnFailure()
	eventually(t, "a sandbox runs", func() bool { return l.validating(t) > 0 })
	if code := second.signal(syscall.SIGKILL); code != -1 {
		t.Errorf("it ended with %d before the kill: %s", code, second.said.String())
	}

	said, code := l.command(t, command...)
	for _, want := range []string{"of 3 tasks have a result already", "3 tasks: 1 sound, 1 flaky, 1 broken (gold_patch_fails 1)", "tests/test_luck.py::test_luck[", "Revision 2 of calc: ", "Revision 3 of calc: "} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	after := soundness(t, c, set.ID)
	for name, v := range before {
		if now := after[name].Validation; v.Validation != nil && now.ID != v.Validation.ID && now.RunsOf == nil {
			t.Errorf("%s was validated again", name)
		}
	}
	broken := l.tasks[2].InstanceID
	if code != 1 || after[l.tasks[0].InstanceID].State != relabel.TaskSound || after[l.tasks[1].InstanceID].State != relabel.TaskSound ||
		after[broken].State != relabel.TaskBroken || !strings.HasPrefix(after[broken].Excluded, "gold_patch_fails: ") {
		t.Errorf("it ended with %d and %+v\n%s", code, after, said)
	}
	if said, code := l.command(t, command...); code != 0 || strings.Contains(said, "Revision") || !strings.Contains(said, "2 tasks: 2 sound") {
		t.Errorf("once more it ends with %d: %s", code, said)
	}
	if said, code := l.command(t, append(command, "--only", broken)...); code != 1 || strings.Contains(said, "Revision") || strings.Contains(said, "for this reason") {
		t.Errorf("of an excluded task it ends with %d: %s", code, said)
	}
	if left := l.must(t, "tasks", "soundness", "calc", "--log", broken); !strings.Contains(left, "==> gold patch, run 3") || !strings.Contains(left, "test_shout") {
		t.Errorf("the logs are %s", left)
	}
	pages(t, c, set.ID, after[broken])
	eventually(t, "the sandboxes of the killed process are gone", func() bool { return l.validating(t) == 0 })
}

// soundness returns the tasks of a set by instance id.
func soundness(t *testing.T, c *session, set relabel.ID) map[string]relabel.TaskSoundness {
	t.Helper()
	all, err := c.ListSoundness(bounded(t), set.String(), api.SoundnessQuery{})
	noError(t, err)
	of := map[string]relabel.TaskSoundness{}
	for _, s := range all {
		of[s.InstanceID] = s
	}
	return of
}

// pages checks the pages of the viewer that show validations.
func pages(t *testing.T, c *session, set relabel.ID, broken relabel.TaskSoundness) {
	t.Helper()
	for path, want := range map[string]string{
		"/soundness/" + set.String():                    "1 excluded",
		"/validations/" + broken.Validation.ID.String(): "test_absent",
	} {
		answer, err := http.Get(c.Base + path)
		noError(t, err)
		text, err := io.ReadAll(answer.Body)
		noError(t, err)
		noError(t, answer.Body.Close())
		if answer.StatusCode != http.StatusOK || !strings.Contains(string(text), want) {
			t.Errorf("%s answers %d without %q", path, answer.StatusCode, want)
		}
	}
}
