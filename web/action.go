package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"relabel"
)

// actionView is an action as a card.
type actionView struct {
	Status  relabel.ActionStatus
	Reason  string
	Parse   string
	Finish  string // why the model stopped, where it is unusual
	Refusal string
	Tokens  string
	ReadAs  string // how calls and reasoning were read from the text, where the server did not
	Lacking string // what was asked of the server and did not come
	Think   *body  // reasoning, apart from the words
	Words   *body
	Calls   []plainCall
}

// plainCall is a call with its arguments laid out.
type plainCall struct {
	Name      string
	Arguments []argument
	Broken    *body // the arguments' text, where it is no JSON object
}

// argument is one argument of a call, in the order the model wrote it.
type argument struct {
	Name  string
	Value body
	Long  bool // shown as a block
}

// viewAction lays an action out; cut shortens long texts.
func viewAction(a relabel.Action, cut func(string) body) actionView {
	v := actionView{Status: a.Status, Reason: a.Reason, Parse: string(a.Parse), Refusal: a.Refusal}
	if a.FinishReason != "stop" && a.FinishReason != "tool_calls" {
		v.Finish = a.FinishReason
	}
	for _, form := range a.ReadAs {
		v.ReadAs = strings.TrimPrefix(v.ReadAs+", "+string(form), ", ")
	}
	v.Lacking = strings.Join(a.NotGiven, ", ")
	if a.Usage != nil {
		v.Tokens = fmt.Sprintf("%d + %d tokens", a.Usage.PromptTokens, a.Usage.CompletionTokens)
	}
	if text := a.Message.ReasoningContent; text != "" {
		b := cut(text)
		v.Think = &b
	}
	if text := a.Message.Content; strings.TrimSpace(text) != "" {
		b := cut(text)
		v.Words = &b
	}
	for _, c := range a.Message.ToolCalls {
		v.Calls = append(v.Calls, viewPlainCall(c, cut))
	}
	return v
}

func viewPlainCall(c relabel.ToolCall, cut func(string) body) plainCall {
	v := plainCall{Name: c.Name}
	fields, ok := fieldsOf(c.Arguments)
	if !ok {
		b := cut(c.Arguments)
		v.Broken = &b
		return v
	}
	for _, f := range fields {
		text := string(f.value)
		var s string
		if f.value[0] == '"' && json.Unmarshal(f.value, &s) == nil {
			text = s
		}
		v.Arguments = append(v.Arguments, argument{Name: f.name, Value: cut(text), Long: len(text) > 60 || strings.Contains(text, "\n")})
	}
	return v
}

// field is one field of a JSON object.
type field struct {
	name  string
	value json.RawMessage
}

// fieldsOf reads a JSON object's fields in order, duplicates included. A text that
// decoding would change (broken UTF-8, half a surrogate pair) is left as it is.
func fieldsOf(text string) (fields []field, ok bool) {
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return nil, false
		}
		fields = append(fields, field{name.(string), value})
	}
	if _, err := dec.Token(); err != nil {
		return nil, false
	}
	_, err := dec.Token()
	return fields, err == io.EOF
}
