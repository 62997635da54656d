package relabel_test

import (
	"testing"

	"relabel"
)

func TestOpeningFillsInTheTaskAndItsHints(t *testing.T) {
	prompts := relabel.Prompts{System: "be good", First: "In {workdir}: {problem_statement}{hints?} Hints: {hints_text}{/hints?} Go."}
	task := relabel.Task{Workdir: "/testbed", ProblemStatement: "It {workdir} breaks.", HintsText: "look at x"}
	got := prompts.Opening(task)
	want := []relabel.Message{
		{Role: relabel.RoleSystem, Content: "be good"},
		// What a task says is text: nothing in it is filled in again.
		{Role: relabel.RoleUser, Content: "In /testbed: It {workdir} breaks. Hints: look at x Go."},
	}
	if len(got) != 2 || got[0].Content != want[0].Content || got[0].Role != want[0].Role || got[1].Content != want[1].Content || got[1].Role != want[1].Role {
		t.Errorf("opening %+v, want %+v", got, want)
	}
	task.HintsText = " \n"
	if got := prompts.Opening(task)[1].Content; got != "In /testbed: It {workdir} breaks. Go." {
		t.Errorf("without hints: %q", got)
	}
}

func TestOpeningGivesLocatedFunctionsAfterTheHintsOfTheTask(t *testing.T) {
	prompts := relabel.Prompts{First: "{problem_statement}{hints?} Hints: {hints_text}{/hints?} Go."}
	task := relabel.Task{ProblemStatement: "It breaks.", HintsText: "look at x", Located: []string{"a.py::C.f", "{hints_text}.py"}}
	const list = "A search of the repository found these places for the change, the most probable one first:\n\n1. a.py::C.f\n2. {hints_text}.py Go."
	if got := prompts.Opening(task)[0].Content; got != "It breaks. Hints: look at x\n\n"+list {
		t.Errorf("with hints of the task: %q", got)
	}
	task.HintsText = "\n"
	if got := prompts.Opening(task)[0].Content; got != "It breaks. Hints: "+list {
		t.Errorf("without: %q", got)
	}
	task.Located = nil
	if got := (relabel.Prompts{First: "[{hints_text}]"}).Opening(task)[0].Content; got != "[\n]" {
		t.Errorf("the hints of a task are not as they were: %q", got)
	}
}

func TestAnEmptySystemPromptIsNotAMessage(t *testing.T) {
	got := relabel.Prompts{First: "{problem_statement}"}.Opening(relabel.Task{ProblemStatement: "It breaks."})
	if len(got) != 1 || got[0].Role != relabel.RoleUser || got[0].Content != "It breaks." {
		t.Errorf("opening %+v", got)
	}
}

func TestCanonicalRenamesCallIDsAndNothingElse(t *testing.T) {
	m := relabel.Message{Content: "c", ReasoningContent: "r", ToolCalls: []relabel.ToolCall{
		{ID: "chatcmpl-1", Name: "execute_bash", Arguments: `{"a":1,"a":2}`}, {ID: "chatcmpl-1", Name: "finish", Arguments: "{"}}}
	got := m.Canonical(7)
	if got.Role != relabel.RoleAssistant || got.Content != "c" || got.ReasoningContent != "r" ||
		got.ToolCalls[0] != (relabel.ToolCall{ID: "call_7_0", Name: "execute_bash", Arguments: `{"a":1,"a":2}`}) ||
		got.ToolCalls[1] != (relabel.ToolCall{ID: "call_7_1", Name: "finish", Arguments: "{"}) {
		t.Errorf("canonical %+v", got)
	}
	if m.ToolCalls[0].ID != "chatcmpl-1" {
		t.Error("the message as it was written was changed")
	}
}
