package openhands

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"relabel"
	"relabel/chat"
)

// do executes one call and returns its observation.
func do(t *testing.T, e *Episode, tool string, arguments map[string]any) relabel.Observation {
	t.Helper()
	obs, _, err := e.Execute(context.Background(), 1, calls(tool, encode(arguments)))
	if err != nil {
		t.Fatal(err)
	}
	if len(obs) != 1 {
		t.Fatalf("%d observations", len(obs))
	}
	return obs[0]
}

// encode writes arguments as JSON.
func encode(arguments map[string]any) string {
	var b []byte
	for name, value := range arguments {
		b = append(chat.AppendString(append(b, ','), name), ':')
		if s, ok := value.(string); ok {
			b = chat.AppendString(b, s)
		} else {
			b = fmt.Append(b, strings.ReplaceAll(fmt.Sprint(value), " ", ","))
		}
	}
	b = append(b, '}')
	b[0] = '{'
	return string(b)
}

func bash(t *testing.T, e *Episode, command string) relabel.Observation {
	t.Helper()
	return do(t, e, toolBash, map[string]any{"command": command})
}

// read returns a file's bytes, past the tools.
func read(t *testing.T, e *Episode, name string) string {
	t.Helper()
	data, _, err := e.sandbox.ReadFile(context.Background(), name, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestBashShowsOutputAndExitCode(t *testing.T) {
	e := start(t)
	o := bash(t, e, "pwd; echo oops >&2; exit 3")
	if o.Content != e.workdir+"\noops\n[exit code 3]" || o.Failed || o.ExitCode == nil || *o.ExitCode != 3 || o.Tool != toolBash || o.CallID != "call_1_0" {
		t.Errorf("%+v", o)
	}
	if o := bash(t, e, "printf 'no line end'"); o.Content != "no line end\n[exit code 0]" {
		t.Errorf("%q", o.Content)
	}
	if o := bash(t, e, "true"); o.Content != "[exit code 0]" {
		t.Errorf("%q", o.Content)
	}
}

func TestEachCommandIsAFreshShellAtTheRepository(t *testing.T) {
	e := start(t)
	bash(t, e, "cd /tmp; export LEFT=behind")
	if o := bash(t, e, "pwd; echo \"[$LEFT]\""); o.Content != e.workdir+"\n[]\n[exit code 0]" {
		t.Errorf("%q", o.Content)
	}
}

func TestBashReadsNothingAndPagesNothing(t *testing.T) {
	e := start(t)
	if o := bash(t, e, "cat; echo $PAGER $GIT_PAGER; git log --oneline | wc -l"); o.Failed || o.Content != "cat cat\n1\n[exit code 0]" {
		t.Errorf("%q", o.Content)
	}
}

func TestBashEndsASilentCommandAndLeavesTheNextOneClean(t *testing.T) {
	e := start(t)
	e.limits.CommandSeconds = 1
	o := bash(t, e, "echo before; sleep 600")
	if !o.Failed || !strings.HasPrefix(o.Content, "before\n[The command printed nothing for 1 seconds and was ended") || !strings.Contains(o.Content, "&") {
		t.Errorf("%+v", o)
	}
	if o := bash(t, e, "echo alive"); o.Content != "alive\n[exit code 0]" {
		t.Errorf("%q", o.Content)
	}
}

func TestBashCutsLongOutputInTheMiddle(t *testing.T) {
	e := start(t)
	o := bash(t, e, "seq 1 100000")
	parts := leftOut.FindStringSubmatch(o.Content)
	if parts == nil || !strings.HasPrefix(parts[1], "1\n2\n3\n") || !strings.HasSuffix(parts[3], "\n100000\n[exit code 0]") {
		t.Fatalf("%.200q", o.Content)
	}
	if len(o.Content) > maxShown+200 || parts[2] != fmt.Sprint(588895-maxShown) {
		t.Errorf("%d bytes, %s left out", len(o.Content), parts[2])
	}
}

func TestBashShowsBytesThatAreNotText(t *testing.T) {
	e := start(t)
	if o := bash(t, e, `printf 'a\0b\377'`); !strings.HasPrefix(o.Content, `a\x00b\xff`+"\n[bytes") {
		t.Errorf("%q", o.Content)
	}
}

func TestBackgroundProcessesSurviveTheirCommand(t *testing.T) {
	e := start(t)
	bash(t, e, "mkfifo pipe; (cat pipe > got; echo end > done.tmp; mv done.tmp done) > /dev/null 2>&1 &")
	if o := bash(t, e, "echo through > pipe; while [ ! -e done ]; do sleep 0.05; done; cat got"); o.Content != "through\n[exit code 0]" {
		t.Errorf("%q", o.Content)
	}
}

func TestCommandsThatNoProcessCanTakeAreRefused(t *testing.T) {
	e := start(t)
	if o := bash(t, e, "echo a\x00b"); !o.Failed || o.ExitCode != nil {
		t.Errorf("%+v", o)
	}
	if o := bash(t, e, ": "+strings.Repeat("x", 200_000)); !o.Failed || !strings.Contains(o.Content, "131071") {
		t.Errorf("%.300q", o.Content)
	}
	if o := bash(t, e, ": "+strings.Repeat("x", 120_000)); o.Failed || *o.ExitCode != 0 {
		t.Errorf("%.300q", o.Content)
	}
}

func TestCallsRunInOrderAndNothingAfterFinish(t *testing.T) {
	e := start(t)
	obs, finished, err := e.Execute(context.Background(), 7, calls(
		toolBash, `{"command":"echo one > log"}`,
		toolBash, `{"command":`,
		"browse", `{}`,
		toolBash, `{"command":"echo two >> log; cat log"}`,
		toolFinish, `{"message":"done"}`,
		toolBash, `{"command":"echo three >> log"}`,
	))
	if err != nil || !finished || len(obs) != 5 {
		t.Fatalf("%v %v %+v", err, finished, obs)
	}
	for k, o := range obs {
		if o.CallID != relabel.CallID(7, k) {
			t.Errorf("call %d is %s", k, o.CallID)
		}
		if o.Failed != (k == 1 || k == 2) {
			t.Errorf("call %d failed: %v", k, o.Failed)
		}
	}
	if got := read(t, e, e.workdir+"/log"); got != "one\ntwo\n" || obs[3].Content != "one\ntwo\n[exit code 0]" {
		t.Errorf("%q, %q", got, obs[3].Content)
	}
}

func TestAMalformedFinishDoesNotFinish(t *testing.T) {
	e := start(t)
	obs, finished, err := e.Execute(context.Background(), 1, calls(toolFinish, `{"message":1}`, toolBash, `{"command":"echo on"}`))
	if err != nil || finished || len(obs) != 2 || !obs[0].Failed || obs[1].Content != "on\n[exit code 0]" {
		t.Errorf("%v %v %+v", err, finished, obs)
	}
}

func TestAnActionWithoutACallIsAnsweredByAUserMessage(t *testing.T) {
	obs, finished, err := (&Episode{}).Execute(context.Background(), 1, relabel.Message{Content: "Let me think."})
	if err != nil || finished || len(obs) != 1 || obs[0].CallID != "" || !strings.Contains(obs[0].Content, "finish") {
		t.Errorf("%v %v %+v", err, finished, obs)
	}
}

func TestPatchIsTheSubmissionAgainstTheBaseCommit(t *testing.T) {
	e := start(t)
	if diff, applies, err := e.Patch(context.Background()); err != nil || applies || len(diff) != 0 {
		t.Errorf("untouched: %q %v %v", diff, applies, err)
	}
	bash(t, e, `sed -i s/world/everyone/ hello.py; git config user.email a@invalid; git config user.name a; git commit -qam x; echo new > new.txt`)
	diff, applies, err := e.Patch(context.Background())
	if err != nil || !applies || !strings.Contains(string(diff), "everyone") || !strings.Contains(string(diff), "new.txt") {
		t.Errorf("%s %v %v", diff, applies, err)
	}
}

func TestTreeFollowsTheWorkingTree(t *testing.T) {
	e := start(t)
	tree := func() string {
		fp, err := e.Tree(context.Background())
		if err != nil || fp == "" {
			t.Fatal(fp, err)
		}
		return fp
	}
	before := tree()
	bash(t, e, "echo x > new.txt")
	after := tree()
	bash(t, e, "rm new.txt")
	if before == after || before != tree() {
		t.Error("the fingerprint does not follow the tree")
	}
}

func TestADeadSandboxIsAnEnvironmentError(t *testing.T) {
	e := start(t)
	if err := e.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, action := range []relabel.Message{calls(toolBash, `{"command":"ls"}`), calls(toolEditor, `{"command":"view","path":"/etc"}`)} {
		if obs, _, err := e.Execute(context.Background(), 1, action); relabel.CodeOf(err) != relabel.CodeEnvironment || obs != nil {
			t.Errorf("%v %+v", err, obs)
		}
	}
	if _, err := e.Tree(context.Background()); relabel.CodeOf(err) != relabel.CodeEnvironment {
		t.Error(err)
	}
	if _, _, err := e.Patch(context.Background()); relabel.CodeOf(err) != relabel.CodeEnvironment {
		t.Error(err)
	}
	if err := e.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestTheFixCannotBeFoundInTheSandbox(t *testing.T) {
	e := start(t)
	if got := read(t, e, e.workdir+"/hello.py"); got != helloPy {
		t.Errorf("the tree is not that of the base commit: %q", got)
	}
	o := bash(t, e, "git log --all --reflog --oneline | wc -l; git cat-file --batch-all-objects --batch-check --unordered | cut -d' ' -f1 | git cat-file --batch | grep -ac the_fix")
	if o.Content != "1\n0\n[exit code 1]" {
		t.Errorf("%q", o.Content)
	}
}

func TestAnAgentThatRemovesTheRepositorySubmitsNothing(t *testing.T) {
	e := start(t)
	bash(t, e, "rm -rf .git; echo x > hello.py")
	if diff, applies, err := e.Patch(context.Background()); err != nil || applies || diff != nil {
		t.Errorf("%q %v %v", diff, applies, err)
	}
	if tree, err := e.Tree(context.Background()); err != nil || tree == "" {
		t.Errorf("%q %v", tree, err)
	}
}

func TestAnAgentThatRemovesTheFolderContinues(t *testing.T) {
	e := start(t)
	bash(t, e, `rm -rf "$PWD"`)
	if tree, err := e.Tree(context.Background()); err != nil || tree == "" {
		t.Errorf("%q %v", tree, err)
	}
	if diff, applies, err := e.Patch(context.Background()); err != nil || applies || diff != nil {
		t.Errorf("%q %v %v", diff, applies, err)
	}
}

func TestATooLargePatchIsNotASubmission(t *testing.T) {
	e := start(t)
	bash(t, e, "for i in 1 2 3; do yes text | head -c 15M >many$i.txt; done")
	if diff, applies, err := e.Patch(context.Background()); err != nil || applies || diff != nil {
		t.Errorf("%d bytes %v %v", len(diff), applies, err)
	}
}

func TestStartReportsMissingParts(t *testing.T) {
	host, c := testClaim(t)
	wrong := c
	wrong.Task.BaseCommit = strings.Repeat("1", 40)
	if _, err := Start(context.Background(), host, wrong); relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), wrong.Task.BaseCommit) {
		t.Error(err)
	}
	wrong = c
	wrong.Task.Image = "relabel/there-is-no-such-image"
	if _, err := Start(context.Background(), host, wrong); relabel.CodeOf(err) != relabel.CodeImageMissing {
		t.Error(err)
	}
}
