// Package dialect writes and reads conversations as the loaders of trainers read them: one JSON object per line.
package dialect

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"relabel"
	"relabel/chat"
)

// Form is the form of an export's lines.
type Form struct {
	Dialect   relabel.Dialect
	Arguments relabel.ArgumentsForm // of calls: text, or an object as the student's template needs it
	Tools     string                // JSON array as the models got it; "[]": none
	Options   json.RawMessage       // further variables of the template: a JSON object; {} or nil: none
}

// Message is an encoded message without its flag and closing brace.
type Message struct {
	text   []byte
	Author string // its role
}

// Encode encodes a message. Reasoning is omitted from DialectWeight, whose readers have no field for it.
func (f Form) Encode(m relabel.Message) Message {
	if f.Dialect == relabel.DialectWeight {
		m.ReasoningContent = ""
	}
	return Message{f.message(m), m.Role}
}

// message is chat.AppendMessage with arguments as the form says, without the closing brace.
func (f Form) message(m relabel.Message) []byte {
	calls := m.ToolCalls
	if f.Arguments != relabel.ArgumentsObject || len(calls) == 0 {
		text := chat.AppendMessage(nil, m)
		return text[:len(text)-1]
	}
	m.ToolCalls = nil
	text := chat.AppendMessage(nil, m)
	text = append(text[:len(text)-1], `,"tool_calls":[`...)
	for k, c := range calls {
		if k > 0 {
			text = append(text, ',')
		}
		text = chat.AppendString(append(text, `{"id":`...), c.ID)
		text = chat.AppendString(append(text, `,"type":"function","function":{"name":`...), c.Name)
		text = append(append(append(text, `,"arguments":`...), oneLine.Replace(c.Arguments)...), "}}"...)
	}
	return append(text, ']')
}

// oneLine replaces line breaks of JSON, which are between its tokens.
var oneLine = strings.NewReplacer("\n", " ", "\r", " ")

// Line returns a conversation as one line; trained says of a message's index whether it is trained on.
func (f Form) Line(id string, messages []Message, trained func(i int) bool) []byte {
	line := []byte("{")
	if f.Dialect != relabel.DialectWeight { // whose reader refuses other fields
		line = append(chat.AppendString(append(line, `"row_id":`...), id), ',')
	}
	line = append(line, `"messages":[`...)
	for i, m := range messages {
		if i > 0 {
			line = append(line, ',')
		}
		line = append(append(append(line, m.text...), f.flag(m, trained(i))...), '}')
	}
	line = append(line, ']')
	if f.Tools != "[]" {
		line = append(append(line, `,"tools":`...), oneLine.Replace(f.Tools)...)
	}
	return append(line, '}')
}

// flag is the flag of a message: DialectWeight has one in the assistant's.
func (f Form) flag(m Message, trained bool) string {
	switch {
	case f.Dialect != relabel.DialectWeight || m.Author != relabel.RoleAssistant:
		return ""
	case trained:
		return `,"weight":1`
	}
	return `,"weight":0`
}

// Object returns a message as a JSON object of its own.
func (f Form) Object(m relabel.Message) string { return string(append(f.message(m), '}')) }

// TokenLine returns a sequence of token ids as one message of DialectLoss, with a weight for each of them: 0 where
// there is no loss.
func TokenLine(id string, ids, labels []int32, weights []float32) []byte {
	line := chat.AppendString([]byte(`{"row_id":`), id)
	line = append(line, `,"messages":[{"role":"assistant","content":{"token_ids":[`...)
	for i, token := range ids {
		if i > 0 {
			line = append(line, ',')
		}
		line = strconv.AppendInt(line, int64(token), 10)
	}
	line = append(line, `],"loss_scale":[`...)
	for i, w := range weights {
		if i > 0 {
			line = append(line, ',')
		}
		if labels[i] == relabel.Unsupervised {
			w = 0
		}
		line = appendDecimal(line, w)
	}
	return append(line, "]}}]}"...)
}

// appendDecimal appends a number with a decimal point, so that readers give all of them one type.
func appendDecimal(line []byte, w float32) []byte {
	from := len(line)
	line = strconv.AppendFloat(line, float64(w), 'g', -1, 32)
	if bytes.ContainsAny(line[from:], ".e") {
		return line
	}
	return append(line, ".0"...)
}
