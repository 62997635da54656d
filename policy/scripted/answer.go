package scripted

import (
	"strconv"
	"strings"

	"relabel"
)

// answer is a chat completion being made.
type answer struct {
	question question
	action   action
	dice     *dice
	prompt   []int32
	sampled  []int32
	finish   string
	unparsed bool
	ids      IDs
	content  *string // all of it as text; nil where the server parses calls
}

func newAnswer(q question, a action, d *dice, c Config) *answer {
	w := &answer{question: q, action: a, dice: d, finish: "stop", unparsed: c.Unparsed, ids: c.IDs}
	w.prompt = toyTokens(string(q.Tools) + string(q.stateBytes()))
	if text, ok := w.text(); ok {
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
	var b strings.Builder
	b.WriteString(w.action.thought)
	for _, c := range w.action.calls {
		b.WriteString("\n<tool_call>" + c.name + " " + c.args + "</tool_call>")
	}
	return b.String()
}

// cut breaks the answer off after limit tokens, in mid-argument where that is where it
// ends, as servers with a tool parser do. 0 is no limit.
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
	if left <= len(w.action.thought) {
		w.action = action{thought: strings.ToValidUTF8(w.action.thought[:left], "")}
		return
	}
	left -= len(w.action.thought)
	for k := range w.action.calls {
		c := &w.action.calls[k]
		head := len("\n<tool_call>" + c.name + " ")
		if left < head {
			w.action.calls = w.action.calls[:k]
			return
		}
		if left -= head; left < len(c.args) {
			c.args = strings.ToValidUTF8(c.args[:left], "")
			w.action.calls = w.action.calls[:k+1]
			return
		}
		left -= len(c.args) + len("</tool_call>")
	}
}

// append writes the response. Every byte of it follows from the request.
func (w *answer) append(b []byte) []byte {
	b = append(b, `{"id":"chatcmpl-`+w.dice.id()+`","object":"chat.completion","created":0,"model":`...)
	b = relabel.AppendString(b, w.question.Model)
	b = append(b, `,"system_fingerprint":"scripted-1"`...)
	if w.question.ReturnIDs && w.ids == IDsVLLM {
		b = appendIDs(append(b, `,"prompt_token_ids":`...), w.prompt)
	}
	b = append(b, `,"choices":[{"index":0,"message":`...)
	b = relabel.AppendMessage(b, w.message())
	if w.question.ReturnIDs && w.ids == IDsSGLang {
		b = appendIDs(append(b, `,"prompt_token_ids":`...), w.prompt)
	}
	if w.question.ReturnIDs && (w.ids == IDsVLLM || w.ids == IDsSGLang) {
		b = appendIDs(append(b, `,"token_ids":`...), w.sampled)
	}
	if w.question.Logprobs && w.ids != IDsNone {
		b = w.appendLogprobs(append(b, `,"logprobs":`...))
	}
	b = relabel.AppendString(append(b, `,"finish_reason":`...), w.finish)
	b = strconv.AppendInt(append(b, `}],"usage":{"prompt_tokens":`...), int64(len(w.prompt)), 10)
	b = strconv.AppendInt(append(b, `,"completion_tokens":`...), int64(len(w.sampled)), 10)
	b = strconv.AppendInt(append(b, `,"total_tokens":`...), int64(len(w.prompt)+len(w.sampled)), 10)
	return append(b, "}}"...)
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

// appendLogprobs makes up a logprob for each sampled token, from the answer's digest.
func (w *answer) appendLogprobs(b []byte) []byte {
	b = append(b, `{"content":[`...)
	for i, id := range w.sampled {
		if i > 0 {
			b = append(b, ',')
		}
		b = relabel.AppendString(append(b, `{"token":`...), toyText(id))
		thousandth := int64(w.dice.digest[i%len(w.dice.digest)])
		b = append(b, `,"logprob":-0.`...)
		b = append(b, strconv.FormatInt(1000+thousandth, 10)[1:]...)
		if w.ids == IDsLlama {
			b = strconv.AppendInt(append(b, `,"id":`...), int64(id), 10)
		}
		b = append(b, '}')
	}
	return append(b, "]}"...)
}

func appendIDs(b []byte, ids []int32) []byte {
	b = append(b, '[')
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(id), 10)
	}
	return append(b, ']')
}
