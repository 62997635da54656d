package scripted

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"relabel"
	"relabel/chat"
	"relabel/policy/texttools"
)

// IDs is how a server returns sampled token ids on request.
type IDs string

// The ways.
const (
	IDsVLLM   IDs = ""       // the prompt's beside the choices, the sampled ones in the choice
	IDsSGLang IDs = "sglang" // both in the choice
	IDsLlama  IDs = "llama"  // the sampled ones inside logprobs, as llama-server does
	IDsNone   IDs = "none"   // not at all, and logprobs neither; nothing is refused
)

// answer is a chat completion.
type answer struct {
	request request
	action  action
	dice    *dice
	prompt  []int32
	sampled []int32
	finish  string
	ids     IDs
	content *string // the whole action as text; nil if the server parses calls
}

func newAnswer(q request, a action, d *dice, c Config) *answer {
	w := &answer{request: q, action: a, dice: d, finish: "stop", ids: c.IDs}
	w.prompt = toyTokens(string(q.Tools) + string(q.stateBytes()))
	written := a.thought
	switch {
	case q.inText:
		written = texttools.Action(w.message(), q.offered)
		w.content = &written
	case c.Unparsed:
		for _, c := range a.calls {
			name := chat.AppendString(nil, c.name)
			written += "\n<tool_call>\n{\"name\": " + string(name) + ", \"arguments\": " + c.args + "}\n</tool_call>"
		}
		w.content = &written
	case len(a.calls) > 0:
		w.finish = "tool_calls"
		for _, c := range a.calls {
			written += callStart + c.name + " " + c.args + callEnd
		}
	}
	w.sampled = append(toyTokens(written), toyEnd)
	return w
}

const callStart, callEnd = "\n<tool_call>", "</tool_call>"

// cut ends the answer after limit tokens, also in the middle of an argument, as servers with a tool
// parser do. 0 is unlimited.
func (w *answer) cut(limit int) {
	if limit <= 0 || limit >= len(w.sampled) {
		return
	}
	w.finish, w.sampled = "length", w.sampled[:limit]
	left := limit * toyBytes
	take := func(s string) string {
		head := s[:max(0, min(left, len(s)))]
		left -= len(s)
		return strings.ToValidUTF8(head, "")
	}
	if w.content != nil {
		*w.content = take(*w.content)
		return
	}
	w.action.thought = take(w.action.thought)
	for k := range w.action.calls {
		c := &w.action.calls[k]
		if left -= len(callStart + c.name + " "); left < 0 {
			w.action.calls = w.action.calls[:k]
			return
		}
		c.args = take(c.args)
		left -= len(callEnd)
	}
}

// completion is the answer as it is sent. Every byte of it follows from the request.
func (w *answer) completion() map[string]any {
	q := w.request
	choice := map[string]any{"index": 0, "message": json.RawMessage(chat.AppendMessage(nil, w.message())), "finish_reason": w.finish}
	out := map[string]any{"id": "chatcmpl-" + w.dice.id(), "object": "chat.completion", "created": 0, "model": q.Model,
		"system_fingerprint": "scripted-1", "choices": []any{choice},
		"usage": map[string]int{"prompt_tokens": len(w.prompt), "completion_tokens": len(w.sampled), "total_tokens": len(w.prompt) + len(w.sampled)}}
	switch {
	case q.ReturnIDs && w.ids == IDsVLLM:
		out["prompt_token_ids"], choice["token_ids"] = w.prompt, w.sampled
	case q.ReturnIDs && w.ids == IDsSGLang:
		choice["prompt_token_ids"], choice["token_ids"] = w.prompt, w.sampled
	}
	if q.Logprobs && w.ids != IDsNone {
		choice["logprobs"] = map[string]any{"content": w.logprobs()}
	}
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

// logprobs invents a logprob for each sampled token, from the answer's digest.
func (w *answer) logprobs() (all []map[string]any) {
	for i, id := range w.sampled {
		p := map[string]any{"logprob": -float64(w.dice.digest[i%len(w.dice.digest)]) / 1000}
		if w.ids == IDsLlama {
			p["id"] = id
		}
		all = append(all, p)
	}
	return all
}

// The toy tokenizer: every three bytes of text are a token, whose id has them in its lower 24 bits
// and their number above. It makes token counts deterministic.
const (
	toyBytes = 3
	toyEnd   = int32(0) // ends an answer
)

func toyTokens(s string) (ids []int32) {
	for part := range slices.Chunk([]byte(s), toyBytes) {
		id := int32(len(part)) << 24
		for i, b := range part {
			id |= int32(b) << (8 * i)
		}
		ids = append(ids, id)
	}
	return ids
}
