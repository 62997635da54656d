package e2e

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"relabel"
	"relabel/envs"
	"relabel/envs/docker/dockertest"
	"relabel/envs/scaffold/openhands"
	"relabel/envs/verify"
	"relabel/tasks"
)

// published is a row of a public data set over an image of the lab's repository, at its start.
type published struct {
	host  envs.Host
	task  relabel.Task
	agent *openhands.Episode // the sandbox of a rollout, at its beginning
}

// publish reads a row of a data set, and starts a rollout of its task.
func publish(t *testing.T, row map[string]any) *published {
	t.Helper()
	line, err := json.Marshal(row)
	noError(t, err)
	file, err := tasks.Read(bytes.NewReader(line), tasks.FormatAuto)
	noError(t, err)
	p := &published{host: dockertest.NewHost(t), task: file.Tasks[0]}
	var claim relabel.Claim
	claim.TrajectoryID, claim.Attempt, claim.Task = relabel.NewID(), 1, p.task
	claim.Run.Limits, claim.Run.Prompts = relabel.PaperLimits, openhands.DefaultPrompts()
	p.agent, err = openhands.Start(bounded(t), p.host, claim)
	noError(t, err)
	t.Cleanup(func() { noError(t, p.agent.Close(bounded(t))) })
	return p
}

// says is what a command prints in the agent's sandbox.
func (p *published) says(t *testing.T, command string) string {
	t.Helper()
	c, err := p.agent.RunCommand(bounded(t), command)
	noError(t, err)
	return c.Text
}

// grade verifies the patch of the agent's sandbox, and returns both.
func (p *published) grade(t *testing.T) (relabel.Verdict, string) {
	t.Helper()
	patch, _, err := p.agent.Patch(bounded(t))
	noError(t, err)
	v, err := verify.New(p.host).Verify(bounded(t), p.task, relabel.NewID(), 1, relabel.RunLimits{VerifySeconds: 120}, patch)
	noError(t, err)
	return v, string(patch)
}

// sound validates the task.
func (p *published) sound(t *testing.T) {
	t.Helper()
	v, err := verify.New(p.host).Validate(bounded(t), p.task, relabel.RunLimits{VerifySeconds: 120}, 1)
	noError(t, err)
	if !v.Sound() {
		t.Errorf("the task is %s: %s\n%s", v.State, v.Problem, v.Runs[len(v.Runs)-1].Log)
	}
}

// calc makes an image with add in calc.py right or wrong, and further files, and returns it with the patch that changes
// add to the other.
func calc(t *testing.T, right bool, files map[string]string) (image, patch string) {
	t.Helper()
	dir := t.TempDir()
	from, to := "return a - b", "return a + b"
	if right {
		from, to = to, from
	}
	write(t, dir, "calc.py", "def add(a, b):\n    "+from+"\n")
	for name, content := range files {
		write(t, dir, name, content)
	}
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "base")
	patch = diff(t, dir, "calc.py", "def add(a, b):\n    "+to+"\n")
	return dockertest.Image(t, dir, "/testbed"), patch
}

const addTests = "from calc import add\n\n\ndef test_zero():\n    assert add(0, 0) == 0\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"

// TestATaskOfSWESmithStartsWithItsBug validates a row whose image has the repository without the bug.
func TestATaskOfSWESmithStartsWithItsBug(t *testing.T) {
	t.Parallel()
	image, bug := calc(t, true, map[string]string{"tests/test_calc.py": addTests, "pytest.ini": "[pytest]\npythonpath = .\n"})
	p := publish(t, map[string]any{
		"instance_id": "test__calc.12345678.func_pm__abc", "repo": "swesmith/test__calc.12345678", "image_name": image, "patch": bug,
		"FAIL_TO_PASS": []string{"tests/test_calc.py::test_add"}, "PASS_TO_PASS": []string{"tests/test_calc.py::test_zero"}, "problem_statement": "add subtracts.",
	})
	said := p.says(t, "cat calc.py; git status --porcelain; git log --all --oneline | wc -l; git grep -n 'a + b' $(git rev-list --all)")
	if !strings.Contains(said, "return a - b") || strings.Contains(said, "a + b") || !strings.HasSuffix(strings.TrimSpace(said), "1") {
		t.Errorf("the agent sees\n%s", said)
	}
	p.sound(t)
	p.says(t, "sed -i 's/a - b/a + b/' calc.py")
	if v, patch := p.grade(t); !v.Passed || strings.Count(patch, "diff --git") != 1 {
		t.Errorf("the agent's fix: %s %s\n%s\n%s", v.Reason, v.Infra, patch, v.Output)
	}
}

// TestATaskOfR2EGymHidesItsTests validates a row whose image has hidden tests, one of them to fail.
func TestATaskOfR2EGymHidesItsTests(t *testing.T) {
	t.Parallel()
	base, _ := calc(t, false, map[string]string{
		"run_tests.sh": "PYTHONPATH=. python3 -W ignore -m pytest -rA -p no:cacheprovider r2e_tests\n", "expected_test_output.json": "{}", "tests/test_other.py": "",
	})
	hidden := t.TempDir()
	write(t, hidden, "test_1.py", addTests+"\n\ndef test_later():\n    assert add(1, 2) == 4\n")
	commit := map[string]any{"file_diffs": []any{map[string]any{
		"header":     map[string]any{"file": map[string]any{"path": "calc.py"}},
		"minus_file": map[string]any{"path": "a/calc.py"}, "plus_file": map[string]any{"path": "b/calc.py"},
		"hunks": []any{map[string]any{
			"descriptor": map[string]any{"old_range": map[string]any{"start": 1, "length": 2}, "new_range": map[string]any{"start": 1, "length": 2}, "section": ""},
			"line_group": map[string]any{"all_lines": []any{
				map[string]any{"content": "def add(a, b):", "type": "context"}, map[string]any{"content": "    return a - b", "type": "deleted"},
				map[string]any{"content": "    return a + b", "type": "added"},
			}},
		}},
	}}}
	content, err := json.Marshal(commit)
	noError(t, err)
	p := publish(t, map[string]any{
		"repo_name": "calc", "docker_image": dockertest.ImageOn(t, base, hidden, "/r2e_tests"), "commit_hash": "f0d74880deec8fcd982bce639c93c5e130d41654",
		"parsed_commit_content": string(content), "expected_output_json": `{"test_zero": "PASSED", "test_add": "PASSED", "test_later": "FAILED"}`,
		"problem_statement": "[ISSUE]\nadd subtracts.\n[/ISSUE]",
	})
	said := p.says(t, "ls -d /r2e_tests r2e_tests run_tests.sh expected_test_output.json; find / -xdev -name 'test_1.py'; grep -rl test_later / --include=*.py 2>/dev/null; cat calc.py")
	if strings.Count(said, "No such file") != 4 || strings.Contains(said, "test_1.py") || !strings.Contains(said, "return a - b") {
		t.Errorf("the agent sees\n%s", said)
	}
	p.sound(t)
	p.says(t, "sed -i 's/a - b/a + b/' calc.py")
	if v, patch := p.grade(t); !v.Passed {
		t.Errorf("the agent's fix: %s %s\n%s\n%s", v.Reason, v.Infra, patch, v.Output)
	}
	p.says(t, "printf 'def add(a, b):\\n    return {3: 4}.get(a + b, a + b)\\n' >calc.py")
	if v, _ := p.grade(t); v.Passed || v.Reason != relabel.VerdictTests {
		t.Errorf("a fix that ends another test otherwise: %s %s\n%s", v.Reason, v.Infra, v.Output)
	}
}
