package chat

import (
	"unicode/utf8"

	"relabel"
)

// EncodeMessage writes m as a chat-completions message object that DecodeMessage reads
// back as m, byte for byte: what is no UTF-8 stays in it as it is, where AppendMessage,
// whose JSON others must be able to read, writes U+FFFD.
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

// EncodeString appends s as a JSON string with every byte above ASCII as it is, for
// DecodeString to read back. It is AppendString for text that is valid UTF-8.
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

// DecodeString reads a JSON string as DecodeMessage does: lone surrogate escapes become
// their three-byte form, broken UTF-8 stays as it is. raw must be valid JSON; null is "",
// and what is no string is its own text.
func DecodeString(raw []byte) string { return decodeText(raw) }
