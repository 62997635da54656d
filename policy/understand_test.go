package policy

import (
	"testing"

	"relabel"
)

func TestReasoningIsCutFromTheContent(t *testing.T) {
	for content, want := range map[string]struct {
		thought, rest string
		found         bool
	}{
		"<think>\nhm\n</think>\n\nHello.": {"hm", "Hello.", true},
		"\n<think>a</think>b</think>":     {"a", "b</think>", true},
		"hm, so\n</think>\nHello.":        {"hm, so", "Hello.", true},
		"<think>cut in the middle":        {"cut in the middle", "", true},
		"<think></think>Hello.":           {"", "Hello.", true},
		"Hello.":                          {"", "Hello.", false},
		"The tag <think> opens.":          {"", "The tag <think> opens.", false},
		"I try <function=x>\n</function> in my head\n</think>\nNo.":        {"I try <function=x>\n</function> in my head", "No.", true},
		"<function=x>\n<parameter=y>\n</think>\n</parameter>\n</function>": {"", "<function=x>\n<parameter=y>\n</think>\n</parameter>\n</function>", false},
		`<tool_call>{"name":"</think>"}</tool_call>`:                       {"", `<tool_call>{"name":"</think>"}</tool_call>`, false},
	} {
		if thought, rest, found := cutThought(content); thought != want.thought || rest != want.rest || found != want.found {
			t.Errorf("%q: %q, %q, %v", content, thought, rest, found)
		}
	}
}

func TestCallsInTextAreReadWithoutToolsInTheRequest(t *testing.T) {
	said := relabel.Completion{Message: relabel.Message{Role: relabel.RoleAssistant, Content: "<function=finish>\n</function>"}}
	request := relabel.ChatRequest{Messages: []relabel.Message{{Role: relabel.RoleUser, Content: "It breaks."}}, T: 2}
	for format, calls := range map[relabel.ToolFormat]int{relabel.ToolsText: 1, relabel.ToolsNative: 0} {
		if got := understood(relabel.Policy{ToolFormat: format}, request, said); len(got.Message.ToolCalls) != calls {
			t.Errorf("%s: %+v", format, got.Message)
		}
	}
}
