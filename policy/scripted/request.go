package scripted

import (
	"encoding/json"
	"strconv"

	"relabel"
	"relabel/chat"
	"relabel/policy/texttools"
)

// request is the part of a chat-completions request that the models read.
type request struct {
	Model       string            `json:"model"`
	Messages    []json.RawMessage `json:"messages"`
	Tools       json.RawMessage   `json:"tools"`
	Temperature *float64          `json:"temperature"`
	MaxTokens   int               `json:"max_tokens"`
	Seed        *int64            `json:"seed"`
	Logprobs    bool              `json:"logprobs"`
	ReturnIDs   bool              `json:"return_token_ids"`
	Stream      bool              `json:"stream"`
	N           *int              `json:"n"`

	state   []relabel.Message
	inText  bool // the system prompt has the tools, and the text has the calls
	offered []relabel.Tool
}

// readRequest reads a request. The problem tells what is wrong with it.
func readRequest(body []byte) (q request, problem string) {
	if err := json.Unmarshal(body, &q); err != nil {
		return q, "the body is not a chat-completions request"
	}
	switch {
	case len(q.Messages) == 0:
		return q, "messages is missing or empty"
	case q.Stream:
		return q, "stream is not supported"
	case q.N != nil && *q.N != 1:
		return q, "n must be 1"
	case q.MaxTokens < 0:
		return q, "max_tokens must not be negative"
	}
	for i, raw := range q.Messages {
		m, err := chat.DecodeMessage(raw)
		if err != nil {
			return q, "messages[" + strconv.Itoa(i) + "] is not a message"
		}
		q.state = append(q.state, m)
	}
	q.readText()
	return q, ""
}

// readText rewrites a request with tools in its system prompt to native calls, so that the draws
// of an answer, which depend on the state, are the same in both formats.
func (q *request) readText() {
	if len(q.Tools) > 0 && string(q.Tools) != "null" {
		return
	}
	state, tools, ok := texttools.Back(q.state)
	if !ok {
		return
	}
	q.inText, q.offered, q.state, q.Tools = true, tools, state, chat.AppendTools(nil, tools)
	for _, m := range state {
		for k, c := range m.ToolCalls {
			m.ToolCalls[k].Arguments = chat.ObjectArguments(c.Arguments)
		}
	}
}

// stateBytes are the messages in canonical form.
func (q *request) stateBytes() (b []byte) {
	for _, m := range q.state {
		b = append(chat.AppendMessage(b, m), '\n')
	}
	return b
}
