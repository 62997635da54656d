package texttools

import (
	"encoding/json"
	"regexp"
	"strings"

	"relabel"
	"relabel/chat"
)

// Reading is the decoded text of an answer.
type Reading struct {
	Content string // the text before the first call
	Calls   []relabel.ToolCall
	Form    relabel.CallForm // how the calls were written; "" without a call
}

// Read reads an answer of a model whose prompt has Describe's text. An invalid block becomes a call whose
// arguments are the block's text, which is not JSON: the call is malformed, as from a server that parses
// calls. Text after the first call is dropped.
func Read(text string, tools []relabel.Tool) Reading {
	return reader{types: typesOf(tools), escaped: true}.read(text)
}

// Recognise reads calls that a server left in the text although the request had tools: those of
// Qwen3-Coder, Hermes and Qwen, and Llama.
func Recognise(text string, tools []relabel.Tool) Reading {
	return reader{types: typesOf(tools)}.read(text)
}

type reader struct {
	types   types
	escaped bool // the model escapes tags, as Describe asks
}

func (r reader) read(text string) Reading {
	if calls := bareCalls(text); calls != nil {
		return Reading{"", calls, relabel.BareJSON}
	}
	block, object := blockStart.FindStringIndex(text), jsonStart.FindStringIndex(text)
	if object != nil && (block == nil || object[0] < block[0]) { // otherwise it is in a value
		if calls := toolCallBlocks(text); calls != nil {
			return Reading{r.words(text[:object[0]]), calls, relabel.ToolCallJSON}
		}
	}
	if block != nil {
		return Reading{r.words(text[:block[0]]), r.blocks(text), relabel.FunctionTags}
	}
	return Reading{Content: r.unescape(text)}
}

func (r reader) unescape(text string) string {
	if r.escaped {
		return unescape(text)
	}
	return text
}

// words is the text before the first call, without the empty line after it.
func (r reader) words(text string) string {
	if before, found := strings.CutSuffix(strings.TrimRight(text, " \t\r\n"), "<tool_call>"); found {
		text = before // Qwen3-Coder's wrapper
	}
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\n")
	return r.unescape(text)
}

var blockStart = regexp.MustCompile(`<function=([^<>\n]+)>`)

// blocks reads the function blocks of text. An unclosed block ends with the text.
func (r reader) blocks(text string) []relabel.ToolCall {
	var calls []relabel.ToolCall
	for {
		at := blockStart.FindStringSubmatchIndex(text)
		if at == nil {
			return calls
		}
		name := strings.TrimSpace(text[at[2]:at[3]])
		body, rest, closed := strings.Cut(text[at[1]:], "</function>")
		args, ok := "", false
		if closed {
			args, ok = r.types.argumentsOf(name, body, r.unescape)
		}
		if !ok {
			args = r.unescape(trimLine(body))
		}
		calls = append(calls, relabel.ToolCall{Name: name, Arguments: args})
		text = rest
	}
}

// trimLine removes the newlines that belong to the tags around a text.
func trimLine(text string) string {
	return strings.TrimSuffix(strings.TrimPrefix(text, "\n"), "\n")
}

// arguments reads a block's parameters, escaped, as a JSON object.
func (t types) arguments(tool, body string) (string, bool) {
	return t.argumentsOf(tool, body, unescape)
}

// argumentsOf reads a block's parameters as a JSON object, with keys in order. It reports false if the
// block contains anything else.
func (t types) argumentsOf(tool, body string, plain func(string) string) (string, bool) {
	args, sep := []byte{'{'}, ""
	for {
		body = strings.TrimLeft(body, " \t\r\n")
		if body == "" {
			return string(append(args, '}')), true
		}
		rest, is := strings.CutPrefix(body, "<parameter=")
		name, rest, named := strings.Cut(rest, ">")
		value, rest, closed := strings.Cut(rest, "</parameter>")
		if !is || !named || !closed || !parameterName.MatchString(name) || strings.Contains(value, "<parameter=") {
			return "", false
		}
		args = chat.EncodeString(append(args, sep...), name)
		args = t.value(append(args, ": "...), tool, name, plain(trimLine(value)))
		body, sep = rest, ", "
	}
}

// value writes a parameter's text as JSON: unchanged if the parameter is not text and it is JSON, otherwise
// as a string.
func (t types) value(dst []byte, tool, name, text string) []byte {
	if t[tool][name] && json.Valid([]byte(text)) {
		return append(dst, strings.TrimSpace(text)...)
	}
	if chat.ValidText(relabel.Message{Content: text}) {
		return chat.AppendString(dst, text)
	}
	return chat.EncodeString(dst, text) // bytes without an escape in JSON
}
