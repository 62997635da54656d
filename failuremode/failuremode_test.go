package failuremode_test

import (
	"fmt"
	"slices"
	"testing"

	"relabel"
	"relabel/failuremode"
)

const gold = "diff --git a/pkg/core.py b/pkg/core.py\n--- a/pkg/core.py\n+++ b/pkg/core.py\n@@ -1 +1 @@\n-a\n+b\n"

// call is an action that calls a tool once.
func call(name, arguments string) relabel.Action {
	return relabel.Action{Parse: relabel.ParsedOK, Message: relabel.Message{Role: relabel.RoleAssistant, Content: "thought",
		ToolCalls: []relabel.ToolCall{{ID: "call", Name: name, Arguments: arguments}}}}
}

func bash(command string) relabel.Action {
	return call("execute_bash", fmt.Sprintf(`{"command": %q}`, command))
}

func edit(path string) relabel.Action {
	return call("str_replace_editor", fmt.Sprintf(`{"command": "str_replace", "path": %q, "old_str": "a", "new_str": "b"}`, path))
}

// step is an action with what it printed.
type step struct {
	action relabel.Action
	output string
	failed bool // the tool refused it
}

func did(command, output string) step { return step{action: bash(command), output: output} }

// work are n different turns.
func work(n int) (steps []step) {
	for i := range n {
		steps = append(steps, did(fmt.Sprintf("cat file%d", i), fmt.Sprintf("text %d", i)))
	}
	return steps
}

func repeated(n int, of ...step) []step { return slices.Repeat(of, n) }

// planted is a trajectory and what the rules must find in it.
type planted struct {
	name      string
	steps     []step
	end       relabel.EndReason
	submitted bool
	patch     string
	verdict   relabel.Verdict
	mode      relabel.FailureMode
	turns     []int // nil: any
	toolTurns []int
}

func (p planted) find() relabel.FailureFinding {
	var traces []failuremode.Trace
	for i, s := range p.steps {
		turn := relabel.Turn{T: i + 1, Action: s.action}
		id := fmt.Sprintf("call_%d_0", i+1) // differs from turn to turn
		o := relabel.Observation{CallID: id, Content: s.output, Failed: s.failed, Millis: int64(i)}
		if len(s.action.Message.ToolCalls) == 0 {
			o.CallID = ""
		} else if o.Tool = s.action.Message.ToolCalls[0].Name; o.Tool == "execute_bash" && !s.failed {
			o.ExitCode = new(0)
		}
		turn.Observations = []relabel.Observation{o}
		traces = append(traces, failuremode.TraceOf(turn))
	}
	resolved := p.submitted && p.verdict.Passed
	e := relabel.FailureEvidence{Patch: []byte(p.patch), GoldPatch: gold, Verdict: &p.verdict,
		Trajectory: relabel.Trajectory{EndReason: p.end, Submitted: &p.submitted, Resolved: &resolved}}
	return failuremode.Classify(e, traces)
}

func patchOf(files ...string) (patch string) {
	for _, f := range files {
		patch += fmt.Sprintf("diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n@@ -1 +1 @@\n-x\n+y\n", f)
	}
	return patch
}

func failedTests(output string) relabel.Verdict {
	return relabel.Verdict{Reason: relabel.VerdictTests, Output: []byte(output),
		Tests: map[string]relabel.TestStatus{"t::a": relabel.TestFailed, "t::b": relabel.TestPassed}}
}

func notCollected(a, b relabel.TestStatus) relabel.Verdict {
	return relabel.Verdict{Reason: relabel.VerdictTests, Tests: map[string]relabel.TestStatus{"t::a": a, "t::b": b}}
}

// loops end in a repetition; i varies what came before and how the rollout ended.
func loops() (all []planted) {
	look, list, run := did("ls", "a"), did("pwd", "/testbed"), did("pytest", "1 failed")
	for i, of := range []struct {
		steps []step
		turns int
	}{
		{repeated(4, look), 4}, {repeated(9, look), 9},
		{repeated(3, look, list), 6}, {repeated(4, look, list), 8},
		{repeated(3, look, list, run), 9}, {append(repeated(3, look, list, run), look), 10},
		{repeated(3, did("date", "1"), did("ls", "2")), 6},
		{repeated(4, step{action: relabel.Action{Parse: relabel.NoCall, Message: relabel.Message{Content: "I am done."}}, output: "no call", failed: true}), 4},
	} {
		end := []relabel.EndReason{relabel.EndMaxTurns, relabel.EndContext, relabel.EndWallClock, relabel.EndNoCall}[i%4]
		steps := append(work(i), of.steps...)
		p := planted{name: "loop", steps: steps, end: end, mode: relabel.ModeLoop, patch: []string{"", patchOf("pkg/core.py")}[i%2]}
		for t := len(steps) - of.turns + 1; t <= len(steps); t++ {
			p.turns = append(p.turns, t)
		}
		all = append(all, p)
	}
	return all
}

func toolErrors() (all []planted) {
	with := func(a relabel.Action, parse relabel.ParseOutcome) relabel.Action { a.Parse = parse; return a }
	for i, s := range []step{
		{with(call("execute_bash", `{"command"`), relabel.MalformedCall), "not JSON", true},
		{with(call("str_replace_editor", `{"command": "view"}`), relabel.MalformedCall), "path is missing", true},
		{with(call("open_browser", `{}`), relabel.UnknownTool), "no such tool", true},
		{with(call("", `{}`), relabel.UnknownTool), "no such tool", true},
		{edit("/testbed/pkg/core.py"), "old_str occurs nowhere", true},
		{edit("/testbed/missing.py"), "no such file", true},
		{bash("a\x00b"), "the command holds a NUL character", true},
		{call("str_replace_editor", `{"command": "create", "path": "/testbed/pkg/core.py", "file_text": ""}`), "the file exists", true},
	} {
		p := planted{name: "tool error", steps: append(work(i+1), s), end: relabel.EndFinish, submitted: true, patch: patchOf("pkg/core.py"),
			verdict: failedTests(""), mode: relabel.ModeWrongSolution, toolTurns: []int{i + 2}}
		if i%2 == 0 {
			p.steps = append(p.steps, did("ls", "a"))
		}
		all = append(all, p)
	}
	return all
}

func syntaxErrors() (all []planted) {
	for _, of := range []struct {
		file    string
		verdict relabel.Verdict
	}{
		{"pkg/core.py", failedTests("E     File \"/testbed/pkg/core.py\", line 3\nE       def f(\nE             ^\nE   SyntaxError: '(' was never closed\n")},
		{"pkg/core.py", failedTests("  File \"/testbed/pkg/core.py\", line 3\n    x = 1\nIndentationError: unexpected indent\n")},
		{"pkg/core.py", failedTests("SyntaxError: invalid syntax (core.py, line 3)\n")},
		{"src/a.js", failedTests("    SyntaxError: /app/src/a.js: Unexpected token (3:4)\n")},
		{"core/x.go", failedTests("# repo/core\n./x.go:12:3: undefined: y\nFAIL\trepo/core [build failed]\n")},
		{"pkg/core.py", notCollected(relabel.TestAbsent, relabel.TestAbsent)},
		{"pkg/core.py", notCollected(relabel.TestError, relabel.TestAbsent)},
		{"pkg/other.py", relabel.Verdict{Reason: relabel.VerdictUnfinished}},
	} {
		all = append(all, planted{name: "syntax or runtime", steps: append(work(3), step{action: edit("/testbed/" + of.file)}), end: relabel.EndFinish, submitted: true,
			patch: patchOf(of.file), verdict: of.verdict, mode: relabel.ModeSyntax, turns: []int{4}})
	}
	return all
}

// plantedAll are eight trajectories of each kind.
func plantedAll() (all []planted) {
	for i := range 8 {
		ends := []relabel.EndReason{relabel.EndMaxTurns, relabel.EndWallClock}
		silent := []relabel.EndReason{relabel.EndFinish, relabel.EndNoCall}
		changed := [][]string{{"pkg/util.py"}, {"tests/test_core.py"}, {"core.py"}, {"pkg/core.pyi"}, {"a.py", "b.py"}, {"pkg/Core.py"}, {"other/pkg/core.py"}, {"reproduce.py"}}[i]
		all = append(all,
			planted{name: "overflow", steps: work(i), end: relabel.EndContext, patch: []string{"", patchOf("pkg/core.py")}[i%2], mode: relabel.ModeOverflow},
			planted{name: "budget", steps: work(3 + i), end: ends[i%2], patch: []string{"", patchOf("pkg/core.py")}[i/4], mode: relabel.ModeBudget},
			planted{name: "no edit", steps: work(1 + i), end: silent[i%2], mode: relabel.ModeNoEdit},
			planted{name: "wrong file", steps: append(work(i), step{action: edit(changed[0])}), end: relabel.EndFinish, submitted: true, patch: patchOf(changed...),
				verdict: failedTests("AssertionError"), mode: relabel.ModeWrongFile, turns: []int{i + 1}})
	}
	return slices.Concat(all, loops(), toolErrors(), syntaxErrors())
}

// TestPlantedFailuresAreFound plants eight trajectories of each of the seven kinds.
func TestPlantedFailuresAreFound(t *testing.T) {
	t.Parallel()
	all := plantedAll()
	if len(all) != 56 {
		t.Fatalf("%d are planted", len(all))
	}
	for i, p := range all {
		f := p.find()
		if f.Mode != p.mode || p.turns != nil && !slices.Equal(f.Turns, p.turns) || f.Reason == "" {
			t.Errorf("%d, %s: %+v, want turns %v", i, p.name, f, p.turns)
		}
		if !slices.Equal(f.ToolTurns, p.toolTurns) || f.ToolUseError != (len(p.toolTurns) > 0) {
			t.Errorf("%d, %s: tool-use errors at %v, want %v", i, p.name, f.ToolTurns, p.toolTurns)
		}
	}
}

// TestWhatIsJustShortOfAModeHasAnother has a case beside the border of each rule.
func TestWhatIsJustShortOfAModeHasAnother(t *testing.T) {
	t.Parallel()
	look, list := did("ls", "a"), did("pwd", "/testbed")
	ended := func(steps ...step) planted {
		return planted{steps: steps, end: relabel.EndMaxTurns, mode: relabel.ModeBudget}
	}
	submitted := func(v relabel.Verdict, mode relabel.FailureMode, files ...string) planted {
		return planted{steps: work(2), end: relabel.EndFinish, submitted: true, patch: patchOf(files...), verdict: v, mode: mode}
	}
	slow := relabel.Verdict{Reason: relabel.VerdictTimedOut, Tests: map[string]relabel.TestStatus{"t::a": relabel.TestAbsent}}
	for name, p := range map[string]planted{
		"three repeats":                              ended(append(work(2), repeated(3, look)...)...),
		"one action, other observations":             ended(did("ls", "a"), did("ls", "b"), did("ls", "c"), did("ls", "d"), did("ls", "e"), did("ls", "f"), did("ls", "g")),
		"four repeats before the end":                ended(append(repeated(4, look), list)...),
		"a cycle twice":                              ended(append(work(2), repeated(2, look, list)...)...),
		"a cycle of three twice":                     ended(append(work(2), repeated(2, look, list, did("id", "me"))...)...),
		"a cycle of four":                            ended(repeated(3, look, list, did("id", "me"), did("env", "x"))...),
		"the first of the last observations differs": ended(did("ls", "b"), look, look, look),
		"a repetition that then finishes":            {steps: append(repeated(5, look), step{action: call("finish", "{}")}), end: relabel.EndFinish, mode: relabel.ModeNoEdit},
		"an edit without a submission":               {steps: work(2), end: relabel.EndNoCall, patch: patchOf("pkg/core.py"), mode: relabel.ModeOther},
		"a broken sandbox":                           {steps: work(2), end: relabel.EndSandboxBroken, mode: relabel.ModeOther},
		"a full disk":                                {steps: work(2), end: relabel.EndDisk, patch: patchOf("pkg/core.py"), mode: relabel.ModeOther},
		"one test is collected":                      submitted(notCollected(relabel.TestAbsent, relabel.TestFailed), relabel.ModeWrongSolution, "pkg/core.py"),
		"too slow":                                   submitted(slow, relabel.ModeWrongSolution, "pkg/core.py"),
		"a syntax error in another file":             submitted(failedTests("  File \"/testbed/pkg/else.py\", line 3\n    x\nSyntaxError: invalid syntax\n"), relabel.ModeWrongSolution, "pkg/core.py"),
		"a traceback through the file":               submitted(failedTests("  File \"/testbed/pkg/core.py\", line 3, in f\n    eval('(')\nSyntaxError: '(' was never closed\n"), relabel.ModeWrongSolution, "pkg/core.py"),
		"a word about syntax":                        submitted(failedTests("E   AssertionError: SyntaxError: expected core.py\n"), relabel.ModeWrongSolution, "pkg/core.py"),
		"one gold file among others":                 submitted(failedTests(""), relabel.ModeWrongSolution, "a.py", "pkg/core.py", "z.py"),
		"a line of a test's log in Go":               submitted(failedTests("    x.go:12: got 1\n--- FAIL: TestX\nFAIL\n"), relabel.ModeWrongFile, "core/x.go"),
		"a resolved one":                             submitted(relabel.Verdict{Passed: true, Reason: relabel.VerdictTestsPassed}, "", "pkg/core.py"),
	} {
		if f := p.find(); f.Mode != p.mode {
			t.Errorf("%s: %+v, want %s", name, f, p.mode)
		}
	}
}

// TestCommandsThatFailAreNoToolUseErrors covers what a tool executed, and what calls no tool.
func TestCommandsThatFailAreNoToolUseErrors(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]relabel.Turn{
		"exit code 1": {Action: bash("false"), Observations: []relabel.Observation{{CallID: "c", ExitCode: new(1)}}},
		"ended":       {Action: bash("sleep 999"), Observations: []relabel.Observation{{CallID: "c", ExitCode: new(124), Failed: true}}},
		"no call":     {Action: relabel.Action{Parse: relabel.NoCall}, Observations: []relabel.Observation{{Failed: true}}},
		"cut by length": {Action: func() relabel.Action { a := bash("ls"); a.Parse = relabel.CutByLength; return a }(),
			Observations: []relabel.Observation{{CallID: "c", Failed: true}}},
	} {
		if failuremode.TraceOf(turn).ToolError {
			t.Errorf("%s is a tool-use error", name)
		}
	}
}

func TestARolloutThatTheRuleEndedHasNoFailureMode(t *testing.T) {
	f := failuremode.Classify(relabel.FailureEvidence{Patch: []byte{}, Trajectory: relabel.Trajectory{EndReason: relabel.EndTeacherTurns, Submitted: new(false)}}, nil)
	if f.Mode != "" || f.Reason != "" || f.Rules != relabel.FailureRules {
		t.Errorf("%+v", f)
	}
}
