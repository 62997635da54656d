package relabel

import (
	"fmt"
	"strings"
)

// Prompts are the opening texts of every trajectory of a run. They are resolved when the run
// is created and stored with it, so that a state can be rendered at any time.
type Prompts struct {
	System string `json:"system" doc:"System message."`
	// First is the first user message. {workdir}, {repository}, {problem_statement} and
	// {hints_text} are replaced by the task's; the part from {hints?} to {/hints?} is omitted for a task without
	// hints. Hints are those of the data set and the functions that another run located.
	First string `json:"first" doc:"First user message, with {workdir}, {repository}, {problem_statement} and {hints_text} for the task's."`
	Tools []Tool `json:"tools" doc:"The tools, as described to the models."`
}

// Opening returns the messages before the first turn: the prompt x. There is no system message if
// System is empty.
func (p Prompts) Opening(task Task) []Message {
	first, given := p.First, task.hints()
	if head, rest, ok := strings.Cut(first, "{hints?}"); ok {
		hints, tail, _ := strings.Cut(rest, "{/hints?}")
		if strings.TrimSpace(given) == "" {
			hints = ""
		}
		first = head + hints + tail
	}
	first = strings.NewReplacer("{workdir}", task.Workdir,
		"{repository}", task.Repo,
		"{problem_statement}", task.ProblemStatement,
		"{hints_text}", given).Replace(first)
	user := Message{Role: RoleUser, Content: first}
	if p.System == "" {
		return []Message{user}
	}
	return []Message{{Role: RoleSystem, Content: p.System}, user}
}

// CallID is the canonical id of call k (from 0) of turn t (from 1). Endpoints never see ids
// of other endpoints.
func CallID(t, k int) string { return fmt.Sprintf("call_%d_%d", t, k) }

// Canonical returns the action of turn t as it appears in a state: the same message with
// canonical call ids.
func (m Message) Canonical(t int) Message {
	calls := make([]ToolCall, len(m.ToolCalls))
	for k, c := range m.ToolCalls {
		c.ID = CallID(t, k)
		calls[k] = c
	}
	m.Role, m.ToolCalls = RoleAssistant, calls
	return m
}

// State returns st for t = len(turns)+1 (eq. 7): the opening and every earlier turn's
// executed action and observations. The messages of a shorter state are a prefix of
// those of a longer one.
func State(opening []Message, turns []Turn) []Message {
	state := append([]Message(nil), opening...)
	for _, turn := range turns {
		state = AppendTurn(state, turn)
	}
	return state
}

// AppendTurn appends at and ot to st, which makes st+1. Labels are not part of a state.
func AppendTurn(state []Message, turn Turn) []Message {
	state = append(state, turn.Action.Message.Canonical(turn.T))
	for _, o := range turn.Observations {
		role := RoleTool
		if o.CallID == "" {
			role = RoleUser
		}
		state = append(state, Message{Role: role, Content: o.Content, ToolCallID: o.CallID})
	}
	return state
}
