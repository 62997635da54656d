// Package chat encodes and decodes chat-completions messages without loss, compares actions,
// and keeps prompts within the context of their policy.
package chat

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"relabel"
)

// DecodeMessage reads a chat-completions message object without loss: lone surrogate escapes become their
// three-byte form, and invalid UTF-8 and the text of arguments stay unchanged. It joins content that is a
// list of text parts. It returns CodeInvalid if raw is not a message object.
func DecodeMessage(raw []byte) (relabel.Message, error) {
	var w struct {
		Role             json.RawMessage `json:"role"`
		Content          json.RawMessage `json:"content"`
		ReasoningContent json.RawMessage `json:"reasoning_content"`
		Reasoning        json.RawMessage `json:"reasoning"`
		ToolCallID       json.RawMessage `json:"tool_call_id"`
		ToolCalls        []struct {
			ID       json.RawMessage `json:"id"`
			Function struct {
				Name      json.RawMessage `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	}
	if body := bytes.TrimLeft(raw, " \t\r\n"); len(body) == 0 || body[0] != '{' {
		return relabel.Message{}, relabel.Errorf(relabel.CodeInvalid, "not a chat message")
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return relabel.Message{}, relabel.Errorf(relabel.CodeInvalid, "not a chat message").Because(err)
	}
	m := relabel.Message{Role: decodeText(w.Role), ToolCallID: decodeText(w.ToolCallID)}
	m.Content = decodeContent(w.Content)
	if m.ReasoningContent = decodeText(w.ReasoningContent); m.ReasoningContent == "" {
		m.ReasoningContent = decodeText(w.Reasoning)
	}
	for _, c := range w.ToolCalls {
		m.ToolCalls = append(m.ToolCalls, relabel.ToolCall{ID: decodeText(c.ID), Name: decodeText(c.Function.Name), Arguments: decodeText(c.Function.Arguments)})
	}
	return m, nil
}

// decodeContent reads null, a string or a list of text parts.
func decodeContent(raw json.RawMessage) string {
	var parts []struct {
		Text json.RawMessage `json:"text"`
	}
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &parts) != nil {
		return decodeText(raw)
	}
	var b []byte
	for _, p := range parts {
		b = append(b, decodeText(p.Text)...)
	}
	return string(b)
}

// decodeText unquotes a JSON string; null and absence are "", and other values are their text (some servers
// send arguments as an object).
func decodeText(raw json.RawMessage) string {
	switch {
	case len(raw) == 0 || bytes.Equal(raw, []byte("null")):
		return ""
	case raw[0] != '"':
		return string(raw)
	}
	in := raw[1 : len(raw)-1]
	out := make([]byte, 0, len(in))
	for i := 0; i < len(in); {
		if in[i] != '\\' {
			out = append(out, in[i])
			i++
			continue
		}
		if in[i+1] != 'u' {
			out = append(out, unescape(in[i+1]))
			i += 2
			continue
		}
		unit := hex4(in[i+2:])
		i += 6
		if isHigh(unit) && i+6 <= len(in) && in[i] == '\\' && in[i+1] == 'u' && isLow(hex4(in[i+2:])) {
			r := rune(unit-0xD800)<<10 | rune(hex4(in[i+2:])-0xDC00) + 0x10000
			out = utf8.AppendRune(out, r)
			i += 6
			continue
		}
		out = appendUnit(out, unit)
	}
	return string(out)
}

func isHigh(u uint16) bool { return u >= 0xD800 && u < 0xDC00 }
func isLow(u uint16) bool  { return u >= 0xDC00 && u < 0xE000 }

// hex4 reads four hexadecimal digits, which a valid JSON text has after \u.
func hex4(b []byte) uint16 {
	n, _ := strconv.ParseUint(string(b[:4]), 16, 16)
	return uint16(n)
}

// appendUnit appends a code unit in UTF-8, and a lone surrogate in the same pattern (WTF-8).
func appendUnit(out []byte, u uint16) []byte {
	if isHigh(u) || isLow(u) {
		return append(out, 0xE0|byte(u>>12), 0x80|byte(u>>6)&0x3F|0x80, 0x80|byte(u)&0x3F)
	}
	return utf8.AppendRune(out, rune(u))
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	}
	return c // quote, backslash, slash
}

// AppendMessage appends m as JSON with its keys in the order role, content, reasoning_content, tool_calls,
// tool_call_id; it omits empty ones except role and content. Equal messages have equal bytes, which keeps
// prefix caches warm. Lone surrogates become escapes. Bytes that are not UTF-8 become U+FFFD, since JSON
// cannot represent them: see ValidText.
func AppendMessage(dst []byte, m relabel.Message) []byte {
	dst = AppendString(append(dst, `{"role":`...), m.Role)
	dst = AppendString(append(dst, `,"content":`...), m.Content)
	if m.ReasoningContent != "" {
		dst = AppendString(append(dst, `,"reasoning_content":`...), m.ReasoningContent)
	}
	for k, c := range m.ToolCalls {
		sep := `,{"id":`
		if k == 0 {
			sep = `,"tool_calls":[{"id":`
		}
		dst = AppendString(append(dst, sep...), c.ID)
		dst = AppendString(append(dst, `,"type":"function","function":{"name":`...), c.Name)
		dst = AppendString(append(dst, `,"arguments":`...), c.Arguments)
		dst = append(dst, "}}"...)
	}
	if len(m.ToolCalls) > 0 {
		dst = append(dst, ']')
	}
	if m.ToolCallID != "" {
		dst = AppendString(append(dst, `,"tool_call_id":`...), m.ToolCallID)
	}
	return append(dst, '}')
}

// AppendMessages appends a state as a JSON array.
func AppendMessages(dst []byte, messages []relabel.Message) []byte {
	dst = append(dst, '[')
	for i, m := range messages {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendMessage(dst, m)
	}
	return append(dst, ']')
}

// AppendTools appends tool descriptions as a chat-completions tools array, with schemas unchanged. A tool
// without a schema has no parameters.
func AppendTools(dst []byte, tools []relabel.Tool) []byte {
	dst = append(dst, '[')
	for i, t := range tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(append(dst, `{"type":"function","function":{"name":`...), t.Name)
		dst = AppendString(append(dst, `,"description":`...), t.Description)
		if t.Parameters != "" {
			dst = append(append(dst, `,"parameters":`...), t.Parameters...)
		}
		dst = append(dst, "}}"...)
	}
	return append(dst, ']')
}

// AppendString appends s as a JSON string without HTML escapes. See AppendMessage for text that is not
// UTF-8.
func AppendString(dst []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
			i++
		case c == '\n':
			dst = append(dst, '\\', 'n')
			i++
		case c == '\t':
			dst = append(dst, '\\', 't')
			i++
		case c == '\r':
			dst = append(dst, '\\', 'r')
			i++
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			i++
		case c < utf8.RuneSelf: // with all that follow, at once: states are long
			n := 1
			for i+n < len(s) && isPlain(s[i+n]) {
				n++
			}
			dst = append(dst, s[i:i+n]...)
			i += n
		default:
			var n int
			dst, n = appendRune(dst, s[i:])
			i += n
		}
	}
	return append(dst, '"')
}

// isPlain reports whether c needs no escape in a JSON string.
func isPlain(c byte) bool { return c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' }

// appendRune appends the first character of s, which is not ASCII, and returns its length.
func appendRune(dst []byte, s string) ([]byte, int) {
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r != utf8.RuneError || n > 1:
		return append(dst, s[:n]...), n
	case isSurrogate(s):
		unit := uint16(s[0]&0x0F)<<12 | uint16(s[1]&0x3F)<<6 | uint16(s[2]&0x3F)
		return append(append(dst, `\u`...), strconv.FormatUint(uint64(unit), 16)...), 3
	}
	return append(dst, `\ufffd`...), 1
}

// isSurrogate reports whether s starts with the three-byte form of a surrogate.
func isSurrogate(s string) bool {
	return len(s) >= 3 && s[0] == 0xED && s[1] >= 0xA0 && s[1] <= 0xBF && s[2]&0xC0 == 0x80
}

// ValidText reports whether JSON can represent every string of m exactly.
func ValidText(m relabel.Message) bool {
	ok := validText(m.Content) && validText(m.ReasoningContent)
	for _, c := range m.ToolCalls {
		ok = ok && validText(c.Name) && validText(c.Arguments)
	}
	return ok
}

// validText also refuses a high surrogate before a low one in their three-byte forms: as escapes they would
// be read back as one character.
func validText(s string) bool {
	afterHigh := false
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		high := false
		if r == utf8.RuneError && n == 1 {
			if !isSurrogate(s[i:]) {
				return false
			}
			high = s[i+1] < 0xB0
			if afterHigh && !high {
				return false
			}
			n = 3
		}
		afterHigh = high
		i += n
	}
	return true
}
