package tasks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// parseObject reads a JSON object into its fields, with names exactly as written. The values are parts of raw. It
// describes the problem of a text that is not an object or has a field twice.
func parseObject(raw []byte) (fields map[string]json.RawMessage, wrong string) {
	switch {
	case bytes.HasPrefix(raw, []byte("[")):
		return nil, "is a JSON array, where an object is expected"
	case !utf8.Valid(raw):
		return nil, "is not UTF-8"
	case !json.Valid(raw):
		return nil, "is not JSON: " + json.Unmarshal(raw, new(json.RawMessage)).Error()
	case raw[0] != '{':
		return nil, "is not a JSON object"
	}
	fields = map[string]json.RawMessage{}
	at := skipSpace(raw, 1)
	for raw[at] != '}' {
		end := valueEnd(raw, at)
		name := unquote(raw[at:end])
		at = skipSpace(raw, skipSpace(raw, end)+1) // behind the colon
		end = valueEnd(raw, at)
		if _, twice := fields[name]; twice {
			return nil, fmt.Sprintf("has the field %.80q twice", name)
		}
		fields[name] = json.RawMessage(raw[at:end:end])
		if at = skipSpace(raw, end); raw[at] == ',' {
			at = skipSpace(raw, at+1)
		}
	}
	return fields, ""
}

// skipSpace returns the first place from at without white space.
func skipSpace(raw []byte, at int) int {
	for at < len(raw) && (raw[at] == ' ' || raw[at] == '\n' || raw[at] == '\t' || raw[at] == '\r') {
		at++
	}
	return at
}

// valueEnd returns the end of the value that begins at a place of valid JSON.
func valueEnd(raw []byte, at int) int {
	switch raw[at] {
	case '"':
		return stringEnd(raw, at)
	case '{', '[':
		for depth := 0; ; at++ {
			switch raw[at] {
			case '"':
				at = stringEnd(raw, at) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return at + 1
				}
			}
		}
	}
	for at < len(raw) && bytes.IndexByte([]byte(",]} \n\t\r"), raw[at]) < 0 {
		at++
	}
	return at
}

// stringEnd returns the end of the string that begins at a place of valid JSON.
func stringEnd(raw []byte, at int) int {
	for at++; ; at++ {
		at += bytes.IndexByte(raw[at:], '"')
		escapes := 0
		for raw[at-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at + 1
		}
	}
}

// unquote reads a JSON string that parseObject has checked. It replaces a lone surrogate by U+FFFD.
func unquote(raw json.RawMessage) string {
	text := raw[1 : len(raw)-1]
	at := bytes.IndexByte(text, '\\')
	if at < 0 {
		return string(text)
	}
	out := make([]byte, 0, len(text))
	for ; at >= 0; at = bytes.IndexByte(text, '\\') {
		out = append(out, text[:at]...)
		size := 2
		switch c := text[at+1]; c {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'u':
			var r rune
			r, size = escapedRune(text[at:])
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, c)
		}
		text = text[at+size:]
	}
	return string(append(out, text...))
}

// escapedRune reads the escape, \u and four digits, that text begins with, or the two of a pair of surrogates.
func escapedRune(text []byte) (r rune, size int) {
	r = hexRune(text)
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(text) >= 12 && text[6] == '\\' && text[7] == 'u' {
		if r = utf16.DecodeRune(r, hexRune(text[6:])); r != utf8.RuneError {
			return r, 12
		}
	}
	return utf8.RuneError, 6
}

func hexRune(text []byte) rune {
	n, _ := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n)
}

const hexDigits = "0123456789abcdef"

// appendQuoted appends a text as a JSON string.
func appendQuoted(out []byte, text []byte) []byte {
	out = append(out, '"')
	from := 0
	for i, c := range text {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		out = append(out, text[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\n':
			out = append(out, '\\', 'n')
		default:
			out = append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(out, text[from:]...), '"')
}
