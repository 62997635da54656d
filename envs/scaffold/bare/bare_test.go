package bare

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
	"relabel/envs/faketest"
)

// start starts an episode whose repository has one file.
func start(t *testing.T) *Episode {
	t.Helper()
	host := faketest.NewHost(t.TempDir(), "image")
	host.Prepare = func(_, workdir string) error {
		if err := os.WriteFile(filepath.Join(workdir, "grid.py"), []byte("def f(a, b):\n    return a + b\n"), 0o644); err != nil {
			return err
		}
		c := exec.Command("bash", "-c", "git init -q . && git add . && git -c user.name=t -c user.email=t@invalid commit -qm base")
		c.Dir = workdir
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	claim := relabel.Claim{Fence: relabel.Fence{TrajectoryID: relabel.NewID(), Attempt: 1}}
	claim.Task.Image, claim.Task.Workdir = "image", "/testbed"
	claim.Run.Limits, claim.Run.Prompts = relabel.PaperLimits, DefaultPrompts()
	e, err := Start(context.Background(), host, claim)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

// call executes one call with parameters as name and value in turn.
func call(t *testing.T, e *Episode, tool string, parameters ...string) (o relabel.Observation, finished bool) {
	t.Helper()
	args := map[string]string{}
	for i := 0; i < len(parameters); i += 2 {
		args[parameters[i]] = parameters[i+1]
	}
	text, _ := json.Marshal(args)
	return execute(t, e, relabel.ToolCall{Name: tool, Arguments: string(text)})
}

func execute(t *testing.T, e *Episode, calls ...relabel.ToolCall) (o relabel.Observation, finished bool) {
	t.Helper()
	observations, finished, err := e.Execute(context.Background(), 3, relabel.Message{ToolCalls: calls})
	if err != nil || len(observations) != 1 {
		t.Fatalf("%+v, %v", observations, err)
	}
	return observations[0], finished
}

func TestAnObservationIsTheOutputAlone(t *testing.T) {
	e := start(t)
	for command, want := range map[string]string{
		"cat grid.py":                "def f(a, b):\n    return a + b",
		"true":                       "(no output)",
		"cat":                        "(no output)", // standard input is empty
		"cat nothing.py":             "cat: nothing.py: No such file or directory",
		"grep -n 'def f' *.py":       "1:def f(a, b):",
		"printf 'one\\n\\n'; exit 3": "one",
	} {
		o, finished := call(t, e, "execute_bash", "command", command)
		if o.Content != want || finished || o.Failed || o.ExitCode == nil || o.CallID != "call_3_0" || o.Tool != "execute_bash" {
			t.Errorf("%s: %+v", command, o)
		}
	}
}

func TestACommandThatHadToBeEndedSaysSo(t *testing.T) {
	host := start(t)
	o, _ := call(t, host, "execute_bash", "command", "kill -9 $$")
	if o.ExitCode == nil || *o.ExitCode != 137 {
		t.Errorf("%+v", o)
	}
}

func TestTheEditorAnswersInOneLine(t *testing.T) {
	e := start(t)
	replace := func(name, old, text string) string {
		o, _ := call(t, e, "str_replace_editor", "command", "str_replace", "path", name, "old_str", old, "new_str", text)
		if o.Failed != strings.HasPrefix(o.Content, "No replacement") {
			t.Errorf("%+v", o)
		}
		return o.Content
	}
	const refused = "No replacement was performed: "
	for _, c := range []struct{ got, want string }{
		{replace("grid.py", "a + b", "a * b"), "The file grid.py has been edited."},
		{replace("grid.py", "a + b", "a * b"), refused + "old_str not found in grid.py"},
		{replace("grid.py", "", "x"), refused + "old_str not found in grid.py"},
		{replace("grid.py", "a", "x"), refused + "old_str is not unique in grid.py"},
		{replace("none.py", "a", "x"), refused + "none.py does not exist"},
		{replace("/testbed/grid.py", "a * b", "a | b"), "The file /testbed/grid.py has been edited."},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	if o, _ := call(t, e, "str_replace_editor", "command", "view", "path", "grid.py"); o.Content != "def f(a, b):\n    return a | b" {
		t.Errorf("%+v", o)
	}
	for _, want := range []string{"The file new/it's.py has been created.", "No file was created: new/it's.py exists"} {
		if o, _ := call(t, e, "str_replace_editor", "command", "create", "path", "new/it's.py", "file_text", "x = 1\n"); o.Content != want {
			t.Errorf("%q, want %q", o.Content, want)
		}
	}
	if o, _ := call(t, e, "str_replace_editor", "command", "view", "path", "new/it's.py"); o.Content != "x = 1" {
		t.Errorf("%+v", o)
	}
}

func TestAnEditKeepsTheModeOfItsFile(t *testing.T) {
	e := start(t)
	call(t, e, "execute_bash", "command", "chmod 755 grid.py && git -c user.name=t -c user.email=t@invalid commit -qam executable")
	call(t, e, "str_replace_editor", "command", "str_replace", "path", "grid.py", "old_str", "a + b", "new_str", "a * b")
	call(t, e, "str_replace_editor", "command", "create", "path", "new.py", "file_text", "x = 1\n")
	if o, _ := call(t, e, "execute_bash", "command", "stat -c %a grid.py new.py; git diff --summary"); o.Content != "755\n644" {
		t.Errorf("%+v", o)
	}
}

func TestACallThatCannotBeUsedIsAnsweredInOneLine(t *testing.T) {
	e := start(t)
	for _, c := range []struct {
		call relabel.ToolCall
		want string
	}{
		{relabel.ToolCall{Name: "execute_bash", Arguments: `{"command": `}, NotParsed},
		{relabel.ToolCall{Name: "execute_bash", Arguments: `{"text": "ls"}`}, NotParsed},
		{relabel.ToolCall{Name: "str_replace_editor", Arguments: `{"command": "undo", "path": "a"}`}, NotParsed},
		{relabel.ToolCall{Name: "bash", Arguments: `{}`}, unknownTool},
	} {
		if o, finished := execute(t, e, c.call); o.Content != c.want || !o.Failed || finished {
			t.Errorf("%+v: %+v", c.call, o)
		}
	}
	if o, _ := execute(t, e); o.Content != NotParsed || o.CallID != "" {
		t.Errorf("without a call: %+v", o)
	}
}

func TestFinishEndsWithThePatch(t *testing.T) {
	e := start(t)
	call(t, e, "str_replace_editor", "command", "str_replace", "path", "grid.py", "old_str", "a + b", "new_str", "a * b")
	if o, finished := call(t, e, "finish"); o.Content != "" || !finished {
		t.Errorf("%+v, %v", o, finished)
	}
	diff, applies, err := e.Patch(context.Background())
	if err != nil || !applies || !strings.Contains(string(diff), "+    return a * b") {
		t.Errorf("%s, %v, %v", diff, applies, err)
	}
}

func TestTheFirstMessageIsTheProblemAlone(t *testing.T) {
	p := DefaultPrompts()
	opening := p.Opening(relabel.Task{ProblemStatement: "It breaks.", Workdir: "/testbed", HintsText: "there"})
	if len(opening) != 1 || opening[0].Role != relabel.RoleUser || opening[0].Content != "It breaks." || len(p.Tools) != 0 {
		t.Errorf("%+v, %+v", opening, p.Tools)
	}
	if err := CheckPrompts(p); err != nil {
		t.Error(err)
	}
	p.First = "Go."
	if relabel.CodeOf(CheckPrompts(p)) != relabel.CodeInvalid {
		t.Error("a first message without the problem is accepted")
	}
}
