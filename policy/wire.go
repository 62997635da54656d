package policy

import (
	"slices"
	"strings"
	"unicode/utf8"

	"relabel"
	"relabel/chat"
)

// wireMessages returns the state in a form that endpoints accept. It does not change the canonical
// messages, and returns them if none differs. The result depends only on message and kind, so that the
// bytes are the same from turn to turn. It changes these, since templates and servers answer them with
// 400 or 500:
//
//   - arguments that are not a JSON object: see chat.ObjectArguments;
//   - a tool name that is not 1 to 64 letters, digits, hyphens or underscores: it has underscores
//     instead of the others, and an empty one is "unnamed";
//   - invalid UTF-8, also lone surrogates: replaced by U+FFFD;
//   - reasoning: removed if the server is not known to accept it.
func wireMessages(kind relabel.ServerKind, messages []relabel.Message) []relabel.Message {
	out := messages
	for i, m := range messages {
		w, changed := wireMessage(kind, m)
		if !changed {
			continue
		}
		if &out[0] == &messages[0] {
			out = slices.Clone(messages)
		}
		out[i] = w
	}
	return out
}

func wireMessage(kind relabel.ServerKind, m relabel.Message) (w relabel.Message, changed bool) {
	w = m
	w.Content, w.ReasoningContent = validText(m.Content), validText(m.ReasoningContent)
	if !takesReasoning(kind) {
		w.ReasoningContent = ""
	}
	changed = w.Content != m.Content || w.ReasoningContent != m.ReasoningContent
	for k, c := range m.ToolCalls {
		call := relabel.ToolCall{ID: validText(c.ID), Name: wireName(c.Name), Arguments: chat.ObjectArguments(c.Arguments)}
		if call == c {
			continue
		}
		if &w.ToolCalls[0] == &m.ToolCalls[0] {
			w.ToolCalls = slices.Clone(m.ToolCalls)
		}
		w.ToolCalls[k], changed = call, true
	}
	return w, changed
}

// takesReasoning reports whether a server reads reasoning_content in a history.
func takesReasoning(kind relabel.ServerKind) bool {
	switch kind {
	case relabel.ServerVLLM, relabel.ServerSGLang, relabel.ServerLlama, relabel.ServerScripted:
		return true
	}
	return false
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
