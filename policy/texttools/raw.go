package texttools

import (
	"encoding/json"
	"regexp"
	"strings"

	"relabel"
	"relabel/chat"
)

var jsonStart = regexp.MustCompile(`<tool_call>\s*\{`)

// toolCallBlocks reads the blocks of Hermes and Qwen: <tool_call>{JSON}</tool_call>. A block without a
// readable name is not a call. Tags inside the JSON are part of it.
func toolCallBlocks(text string) []relabel.ToolCall {
	var calls []relabel.ToolCall
	for {
		at := jsonStart.FindStringIndex(text)
		if at == nil {
			return calls
		}
		text = text[at[1]-1:]
		var whole json.RawMessage
		dec := json.NewDecoder(strings.NewReader(text))
		body, rest, closed := strings.Cut(text, "</tool_call>")
		if dec.Decode(&whole) == nil {
			after := strings.TrimLeft(text[dec.InputOffset():], " \t\r\n")
			if end, found := strings.CutPrefix(after, "</tool_call>"); found {
				body, rest, closed = string(whole), end, true
			}
		}
		if c, named := toolCall(strings.TrimSpace(body), closed); named {
			calls = append(calls, c)
		}
		text = rest
	}
}

// written is a call in JSON, as models write it.
type written struct {
	Name       *json.RawMessage `json:"name"`
	Arguments  json.RawMessage  `json:"arguments"`
	Parameters json.RawMessage  `json:"parameters"`
	Type       json.RawMessage  `json:"type"`
	ID         json.RawMessage  `json:"id"`
}

// call is the call, if it names a tool. Arguments that are a string are its text.
func (s written) call() (relabel.ToolCall, bool) {
	if s.Name == nil || (*s.Name)[0] != '"' || (s.Arguments == nil) == (s.Parameters == nil) {
		return relabel.ToolCall{}, false
	}
	args := s.Arguments
	if args == nil {
		args = s.Parameters
	}
	return relabel.ToolCall{Name: chat.DecodeString(*s.Name), Arguments: chat.DecodeString(args)}, true
}

var (
	saidName      = regexp.MustCompile(`^\{\s*"name"\s*:\s*"((?:[^"\\]|\\.)*)"`)
	saidArguments = regexp.MustCompile(`^,\s*"(?:arguments|parameters)"\s*:\s*`)
)

// toolCall reads one block. A block that is not JSON gives the name, if it is readable, and the text of
// the arguments, which is not JSON either.
func toolCall(body string, closed bool) (c relabel.ToolCall, named bool) {
	var s written
	if closed && json.Unmarshal([]byte(body), &s) == nil {
		if c, ok := s.call(); ok {
			return c, true
		}
	}
	name := saidName.FindStringSubmatch(body)
	if name == nil {
		return c, false
	}
	c.Name = chat.DecodeString([]byte(`"` + name[1] + `"`))
	rest := strings.TrimSpace(body[len(name[0]):])
	at := saidArguments.FindString(rest)
	switch {
	case at == "" && closed:
		c.Arguments = rest
	case at != "":
		c.Arguments = rest[len(at):]
	}
	if closed && at != "" && !json.Valid([]byte(c.Arguments)) {
		c.Arguments = strings.TrimSpace(strings.TrimSuffix(c.Arguments, "}")) // the brace that closes the call
	}
	return c, true
}

// bareCalls reads the calls of Llama: a sequence of JSON objects with a name and parameters. It returns
// nil for any other text.
func bareCalls(text string) []relabel.ToolCall {
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "<|python_tag|>"))
	var calls []relabel.ToolCall
	for text != "" {
		if text[0] != '{' {
			return nil
		}
		dec := json.NewDecoder(strings.NewReader(text))
		dec.DisallowUnknownFields()
		var s written
		if err := dec.Decode(&s); err != nil {
			return nil
		}
		c, ok := s.call()
		if !ok {
			return nil
		}
		calls = append(calls, c)
		text = strings.TrimLeft(text[dec.InputOffset():], " \t\r\n;,")
	}
	return calls
}
