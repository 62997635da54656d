package policy

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"relabel"
	"relabel/chat"
)

// wireMessages returns the state in a form that endpoints take. The canonical
// messages stay as they are, and are returned themselves if nothing is in the
// way; the outcome depends on nothing but message and kind, so that bytes stay stable
// from turn to turn. What is changed, because templates and servers answer 400 or 500
// to it:
//
//   - arguments that are not a JSON object become {"malformed_arguments": "<the text>"},
//     empty ones {};
//   - a tool name that is not 1 to 64 letters, digits, hyphens or underscores has
//     underscores in place of the rest ("unnamed" if nothing is left);
//   - text that is not UTF-8, lone surrogates among it, has U+FFFD there;
//   - reasoning is left out if the server is not known to take it.
func wireMessages(kind relabel.ServerKind, messages []relabel.Message) []relabel.Message {
	var out []relabel.Message // nil until something changes
	for i, m := range messages {
		w, changed := wireMessage(kind, m)
		if changed && out == nil {
			out = append([]relabel.Message(nil), messages...)
		}
		if changed {
			out[i] = w
		}
	}
	if out == nil {
		return messages
	}
	return out
}

func wireMessage(kind relabel.ServerKind, m relabel.Message) (relabel.Message, bool) {
	changed := false
	replace := func(to *string, with string) {
		changed = changed || *to != with
		*to = with
	}
	replace(&m.Content, wireText(m.Content))
	replace(&m.ReasoningContent, wireText(m.ReasoningContent))
	if !takesReasoning(kind) {
		replace(&m.ReasoningContent, "")
	}
	calls := m.ToolCalls
	for k, c := range calls {
		w := relabel.ToolCall{ID: wireText(c.ID), Name: wireName(c.Name), Arguments: wireArguments(c.Arguments)}
		if w == c {
			continue
		}
		if &calls[0] == &m.ToolCalls[0] {
			m.ToolCalls = append([]relabel.ToolCall(nil), calls...)
		}
		m.ToolCalls[k], changed = w, true
	}
	return m, changed
}

// takesReasoning says which servers read reasoning_content in a history.
func takesReasoning(kind relabel.ServerKind) bool {
	switch kind {
	case relabel.ServerVLLM, relabel.ServerSGLang, relabel.ServerLlama, relabel.ServerScripted:
		return true
	}
	return false
}

func wireText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// wireArguments returns text that is a JSON object.
func wireArguments(s string) string {
	body := strings.TrimLeft(s, " \t\r\n")
	switch {
	case body == "":
		return "{}"
	case body[0] == '{' && utf8.ValidString(s) && json.Valid([]byte(s)):
		return s
	}
	wrapped := chat.AppendString([]byte(`{"malformed_arguments": `), wireText(s))
	return string(append(wrapped, '}'))
}

func wireName(s string) string {
	plain := func(r rune) rune {
		if r < utf8.RuneSelf && (r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			return r
		}
		return '_'
	}
	s = strings.Map(plain, s)
	if s == "" {
		return "unnamed"
	}
	return s[:min(len(s), 64)]
}
