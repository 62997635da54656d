package chat_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"relabel"
	"relabel/chat"
)

// st is the opening and every earlier action and observation (eq. 7): a shorter state is
// a prefix of a longer one byte for byte, labels have no part in it, and each
// observation answers the call before it.
func TestStateIsThePrefixOfTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opening := []relabel.Message{{Role: relabel.RoleSystem, Content: "s"}, {Role: relabel.RoleUser, Content: "x"}}
		turns := drawTurns(t)
		last := ""
		for n := range len(turns) + 1 {
			state := relabel.State(opening, turns[:n])
			bytes := string(chat.AppendMessages(nil, state))
			if !strings.HasPrefix(bytes, strings.TrimSuffix(last, "]")) {
				t.Fatalf("state %d does not begin with the one before:\n%s\n%s", n+1, bytes, last)
			}
			last = bytes
			if strings.Contains(bytes, "LABEL") || strings.Contains(bytes, "endpoint-id") {
				t.Fatalf("state %d shows a label or an endpoint's id:\n%s", n+1, bytes)
			}
		}
		checkAnswers(t, relabel.State(opening, turns))
	})
}

func drawTurns(t *rapid.T) []relabel.Turn {
	var turns []relabel.Turn
	for k := range rapid.IntRange(0, 6).Draw(t, "turns") {
		turn := relabel.Turn{T: k + 1, Label: &relabel.Action{Message: relabel.Message{Content: "LABEL"}}}
		turn.Action.Message.Content = rapid.StringMatching(`[a-z"\\é]{0,8}`).Draw(t, "content")
		calls := rapid.IntRange(0, 3).Draw(t, "calls")
		for c := range calls {
			turn.Action.Message.ToolCalls = append(turn.Action.Message.ToolCalls, relabel.ToolCall{ID: "endpoint-id", Name: "execute_bash", Arguments: "{}"})
			turn.Observations = append(turn.Observations, relabel.Observation{CallID: relabel.CallID(k+1, c), Content: "seen"})
		}
		if calls == 0 {
			turn.Observations = []relabel.Observation{{Content: "call a tool"}}
		}
		turns = append(turns, turn)
	}
	return turns
}

// checkAnswers demands that each tool message answers a call of the action before it.
func checkAnswers(t *rapid.T, state []relabel.Message) {
	var asked []string
	for _, m := range state {
		switch m.Role {
		case relabel.RoleAssistant:
			asked = nil
			for _, c := range m.ToolCalls {
				asked = append(asked, c.ID)
			}
		case relabel.RoleTool:
			if !slices.Contains(asked, m.ToolCallID) {
				t.Fatalf("%s answers none of %v", m.ToolCallID, asked)
			}
		case relabel.RoleUser:
			if m.ToolCallID != "" || len(asked) > 0 {
				t.Fatalf("a user message stands where %v are to be answered", asked)
			}
		}
	}
}
