package texttools

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"relabel"
	"relabel/chat"
)

// State writes a state for an endpoint without tool calling: the tools are in the system prompt, actions
// are only text, and the observations of a turn are one user message. It does not change messages. The
// text of a turn depends only on that turn, so that a longer state begins with the bytes of a shorter one.
func State(messages []relabel.Message, tools []relabel.Tool) []relabel.Message {
	w := writer{types: typesOf(tools)}
	out := make([]relabel.Message, 0, len(messages)+1)
	if description := Describe(tools); description != "" {
		system := relabel.Message{Role: relabel.RoleSystem, Content: description}
		if len(messages) > 0 && messages[0].Role == relabel.RoleSystem {
			system.Content = messages[0].Content + "\n\n" + description
			messages = messages[1:]
		}
		out = append(out, system)
	}
	var acting relabel.Message
	for i, m := range messages {
		switch m.Role {
		case relabel.RoleAssistant:
			acting = m
			m.Content, m.ToolCalls = w.action(m), nil
		case relabel.RoleTool:
			text := result(acting, m)
			if i > 0 && messages[i-1].Role == relabel.RoleTool {
				out[len(out)-1].Content += "\n\n" + text
				continue
			}
			m = relabel.Message{Role: relabel.RoleUser, Content: text}
		}
		out = append(out, m)
	}
	return out
}

// result is an observation after a line that names its call.
func result(action, m relabel.Message) string {
	for k, c := range action.ToolCalls {
		if c.ID == m.ToolCallID {
			return resultLine(k, c.Name) + m.Content
		}
	}
	return "Result:\n" + m.Content
}

func resultLine(k int, tool string) string {
	return "Result of call " + strconv.Itoa(k+1) + " (" + tool + "):\n"
}

// Action writes an action as text, in the form that models are asked for.
func Action(m relabel.Message, tools []relabel.Tool) string {
	return writer{types: typesOf(tools)}.action(m)
}

type writer struct{ types types }

func (w writer) action(m relabel.Message) string {
	text := escape(m.Content)
	for k, c := range m.ToolCalls {
		switch {
		case k > 0:
			text += "\n"
		case text != "":
			text += "\n\n"
		}
		text += w.call(c)
	}
	return text
}

// call writes a call. If the parameters would not be read back as the same arguments, the block has the
// arguments instead.
func (w writer) call(c relabel.ToolCall) string {
	open, end := "<function="+writeName(c.Name)+">\n", "</function>"
	if body, ok := w.parameters(c); ok {
		if args, ok := w.types.arguments(c.Name, body); ok && args == c.Arguments {
			return open + body + end
		}
	}
	return open + escape(c.Arguments) + "\n" + end
}

var (
	parameterName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
	toolName      = regexp.MustCompile(`^[^<>\s&]+$`)
)

// writeName changes names that are invalid in a tag. No tool has such a name.
func writeName(name string) string {
	if toolName.MatchString(name) {
		return name
	}
	name = strings.Join(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("<>& \t\r\n\f\v", r) }), "_")
	if !toolName.MatchString(name) {
		return "unnamed"
	}
	return name
}

// parameters writes arguments that are a JSON object as the parameters of a block.
func (w writer) parameters(c relabel.ToolCall) (body string, ok bool) {
	dec := json.NewDecoder(strings.NewReader(c.Arguments))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return "", false
	}
	var b strings.Builder
	for dec.More() {
		key, err := dec.Token()
		name, isName := key.(string)
		var value json.RawMessage
		if err != nil || !isName || !parameterName.MatchString(name) || dec.Decode(&value) != nil {
			return "", false
		}
		text := string(value)
		if bytes.HasPrefix(value, []byte{'"'}) {
			text = chat.DecodeString(value)
		}
		b.WriteString("<parameter=" + name + ">\n" + escape(text) + "\n</parameter>\n")
	}
	_, err := dec.Token()
	return b.String(), err == nil
}
