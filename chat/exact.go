package chat

import (
	"unicode/utf8"

	"relabel"
)

// EncodeMessage writes m as a chat-completions message object that DecodeMessage reads back as m, byte for
// byte. It keeps invalid UTF-8, which AppendMessage replaces by U+FFFD so that others can read the JSON.
func EncodeMessage(m relabel.Message) []byte {
	dst := EncodeString([]byte(`{"role":`), m.Role)
	dst = EncodeString(append(dst, `,"content":`...), m.Content)
	if m.ReasoningContent != "" {
		dst = EncodeString(append(dst, `,"reasoning_content":`...), m.ReasoningContent)
	}
	for k, c := range m.ToolCalls {
		sep := `,{"id":`
		if k == 0 {
			sep = `,"tool_calls":[{"id":`
		}
		dst = EncodeString(append(dst, sep...), c.ID)
		dst = EncodeString(append(dst, `,"type":"function","function":{"name":`...), c.Name)
		dst = EncodeString(append(dst, `,"arguments":`...), c.Arguments)
		dst = append(dst, "}}"...)
	}
	if len(m.ToolCalls) > 0 {
		dst = append(dst, ']')
	}
	if m.ToolCallID != "" {
		dst = EncodeString(append(dst, `,"tool_call_id":`...), m.ToolCallID)
	}
	return append(dst, '}')
}

// EncodeString appends s as a JSON string with every byte above ASCII unchanged, for DecodeString. For
// valid UTF-8 it is AppendString.
func EncodeString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for len(s) > 0 {
		plain := 0
		for plain < len(s) && s[plain] < utf8.RuneSelf {
			plain++
		}
		start := len(dst)
		dst = AppendString(dst, s[:plain])
		dst = append(dst[:start], dst[start+1:len(dst)-1]...) // without its quotes
		for s = s[plain:]; len(s) > 0 && s[0] >= utf8.RuneSelf; s = s[1:] {
			dst = append(dst, s[0])
		}
	}
	return append(dst, '"')
}

// DecodeString reads a JSON string like DecodeMessage: lone surrogate escapes become their three-byte form,
// and invalid UTF-8 stays unchanged. raw must be valid JSON; null is "", and other values are their text.
func DecodeString(raw []byte) string { return decodeText(raw) }
