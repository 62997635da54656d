package scripted

import (
	"encoding/json"
	"strconv"
	"strings"

	"relabel"
	"relabel/chat"
)

// answer is a chat completion being made.
type answer struct {
	request request
	action  action
	dice    *dice
	prompt  []int32
	sampled []int32
	finish  string
	ids     IDs
	content *string // all of it as text; nil where the server parses calls
}

func newAnswer(q request, a action, d *dice, c Config) *answer {
	w := &answer{request: q, action: a, dice: d, finish: "stop", ids: c.IDs}
	w.prompt = toyTokens(string(q.Tools) + string(q.stateBytes()))
	if text, ok := w.text(c.Unparsed); ok {
		w.content = &text
	} else if len(a.calls) > 0 {
		w.finish = "tool_calls"
	}
	w.sampled = append(toyTokens(w.written()), toyEnd)
	return w
}

// written is the text that a model would have sampled for the action.
func (w *answer) written() string {
	if w.content != nil {
		return *w.content
	}
	text := w.action.thought
	for _, c := range w.action.calls {
		text += "\n<tool_call>" + c.name + " " + c.args + "</tool_call>"
	}
	return text
}

// cut ends the answer after limit tokens, in the middle of an argument where that is where the
// limit lies, as servers with a tool parser do. 0 is no limit.
func (w *answer) cut(limit int) {
	if limit <= 0 || limit >= len(w.sampled) {
		return
	}
	w.finish = "length"
	w.sampled = w.sampled[:limit]
	left := min(limit*toyBytes, len(w.written()))
	if w.content != nil {
		*w.content = strings.ToValidUTF8((*w.content)[:left], "")
		return
	}
	thought, calls := w.action.thought, w.action.calls
	w.action = action{thought: strings.ToValidUTF8(thought[:min(left, len(thought))], "")}
	left -= len(thought)
	for _, c := range calls {
		left -= len("\n<tool_call>" + c.name + " ")
		if left < 0 {
			return
		}
		c.args = strings.ToValidUTF8(c.args[:min(left, len(c.args))], "")
		w.action.calls = append(w.action.calls, c)
		left -= len(c.args) + len("</tool_call>")
	}
}

// completion is the response. Every byte of it follows from the request.
type completion struct {
	ID          string   `json:"id"`
	Object      string   `json:"object"`
	Created     int      `json:"created"`
	Model       string   `json:"model"`
	Fingerprint string   `json:"system_fingerprint"`
	PromptIDs   []int32  `json:"prompt_token_ids,omitempty"`
	Choices     []choice `json:"choices"`
	Usage       usage    `json:"usage"`
}

type choice struct {
	Index     int             `json:"index"`
	Message   json.RawMessage `json:"message"`
	PromptIDs []int32         `json:"prompt_token_ids,omitempty"`
	TokenIDs  []int32         `json:"token_ids,omitempty"`
	Logprobs  *logprobs       `json:"logprobs,omitempty"`
	Finish    string          `json:"finish_reason"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

type logprobs struct {
	Content []logprob `json:"content"`
}

type logprob struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
	ID      *int32  `json:"id,omitempty"`
}

// completion is the answer as it is sent.
func (w *answer) completion() completion {
	q := w.request
	c := choice{Message: chat.AppendMessage(nil, w.message()), Finish: w.finish}
	out := completion{ID: "chatcmpl-" + w.dice.id(), Object: "chat.completion", Model: q.Model, Fingerprint: "scripted-1",
		Usage: usage{len(w.prompt), len(w.sampled), len(w.prompt) + len(w.sampled)}}
	if q.ReturnIDs && w.ids == IDsVLLM {
		out.PromptIDs, c.TokenIDs = w.prompt, w.sampled
	}
	if q.ReturnIDs && w.ids == IDsSGLang {
		c.PromptIDs, c.TokenIDs = w.prompt, w.sampled
	}
	if q.Logprobs && w.ids != IDsNone {
		c.Logprobs = w.logprobs()
	}
	out.Choices = []choice{c}
	return out
}

// message is the answer's message.
func (w *answer) message() relabel.Message {
	m := relabel.Message{Role: relabel.RoleAssistant, Content: w.action.thought}
	if w.content != nil {
		m.Content = *w.content
		return m
	}
	for k, c := range w.action.calls {
		id := "call_" + w.dice.id()[:12] + "_" + strconv.Itoa(k)
		m.ToolCalls = append(m.ToolCalls, relabel.ToolCall{ID: id, Name: c.name, Arguments: c.args})
	}
	return m
}

// logprobs makes up a logprob for each sampled token, from the answer's digest.
func (w *answer) logprobs() *logprobs {
	l := &logprobs{}
	for i, id := range w.sampled {
		p := logprob{Token: toyText(id), Logprob: -float64(w.dice.digest[i%len(w.dice.digest)]) / 1000}
		if w.ids == IDsLlama {
			p.ID = &w.sampled[i]
		}
		l.Content = append(l.Content, p)
	}
	return l
}
