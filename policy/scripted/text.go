package scripted

import (
	"encoding/json"
	"strings"

	"relabel/chat"
	"relabel/policy/texttools"
)

// IDs says how a server gives sampled token ids where it is asked for them.
type IDs string

// The ways.
const (
	IDsVLLM   IDs = ""       // the prompt's beside the choices, the sampled ones in the choice
	IDsSGLang IDs = "sglang" // both in the choice
	IDsLlama  IDs = "llama"  // the sampled ones inside logprobs, as llama-server does
	IDsNone   IDs = "none"   // and no logprobs either, though nothing is refused
)

// readText makes the canonical request of one whose tools are in the system prompt,
// so that an answer is the same in either format: what is random depends on the state.
func (q *request) readText() {
	if len(q.Tools) > 0 && string(q.Tools) != "null" {
		return
	}
	state, tools, ok := texttools.Back(q.state)
	if !ok {
		return
	}
	q.inText, q.offered = true, tools
	q.state, q.Messages, q.Tools = state, nil, chat.AppendTools(nil, tools)
	for _, m := range state {
		for k, c := range m.ToolCalls {
			m.ToolCalls[k].Arguments = wrapped(c.Arguments)
		}
		q.Messages = append(q.Messages, chat.AppendMessage(nil, m))
	}
}

// wrapped is how a client sends arguments that are not a JSON object where it sends calls
// natively.
func wrapped(args string) string {
	if strings.HasPrefix(strings.TrimLeft(args, " \t\r\n"), "{") && json.Valid([]byte(args)) {
		return args
	}
	return string(chat.AppendString([]byte(`{"malformed_arguments": `), args)) + "}"
}

// text is the action as content: in the form that the prompt asks for, or as a model's
// own that the server does not parse; ok is false where the server parses calls.
func (w *answer) text(unparsed bool) (content string, ok bool) {
	switch {
	case w.request.inText:
		return texttools.Action(w.message(), w.request.offered), true
	case !unparsed:
		return "", false
	}
	var b strings.Builder
	b.WriteString(w.action.thought)
	for _, c := range w.action.calls {
		name := chat.AppendString(nil, c.name)
		b.WriteString("\n<tool_call>\n{\"name\": " + string(name) + ", \"arguments\": " + c.args + "}\n</tool_call>")
	}
	return b.String(), true
}
