package texttools

import (
	"strings"
	"testing"

	"relabel"
	"relabel/chat"
)

// BenchmarkState writes a state of 100 turns with 8 KB of edit and 8 KB of output each.
func BenchmarkState(b *testing.B) {
	state := []relabel.Message{{Role: relabel.RoleSystem, Content: "x"}, {Role: relabel.RoleUser, Content: "y"}}
	args := `{"path": "/a.py", "text": ` + string(chat.AppendString(nil, strings.Repeat("def f(x):\n    return \"<a>\"\n", 300))) + `}`
	for t := 1; t <= 100; t++ {
		m := relabel.Message{Content: "I edit.", ToolCalls: []relabel.ToolCall{{Name: "edit", Arguments: args}}}.Canonical(t)
		state = append(state, m, relabel.Message{Role: relabel.RoleTool, ToolCallID: m.ToolCalls[0].ID, Content: strings.Repeat("output line\n", 700)})
	}
	for b.Loop() {
		State(state, tools)
	}
}
