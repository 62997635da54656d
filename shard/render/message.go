package render

import (
	"fmt"
	"strings"

	"relabel"
	"relabel/chat"
	"relabel/jinja"
)

// message returns a canonical message as the template receives it: the JSON that was sent to the
// models, with arguments in the form that the template needs.
func (s *Student) message(m relabel.Message) (jinja.Value, error) {
	if s.reasoning == relabel.ReasoningDrop {
		m.ReasoningContent = ""
	}
	v, err := jinja.DecodeJSON(chat.AppendMessage(nil, m))
	if err != nil {
		return nil, err
	}
	if hasSurrogate(v) {
		return nil, refuse(LoneSurrogate, "a message of the state, or the label, contains an unpaired surrogate")
	}
	if len(m.ToolCalls) == 0 || s.Arguments != relabel.ArgumentsObject {
		return v, nil
	}
	calls, _ := v.(*jinja.Map).Get("tool_calls")
	list := calls.(*jinja.List) // as AppendMessage writes it, here and below
	for k, call := range m.ToolCalls {
		arguments, err := jinja.DecodeJSON([]byte(call.Arguments))
		if err != nil {
			return nil, refuse(ArgumentsNotJSON, "of %s: %s", call.ID, said(err))
		}
		function, _ := list.At(k).(*jinja.Map).Get("function")
		function.(*jinja.Map).Set("arguments", arguments)
	}
	return v, nil
}

// holds reports whether a text in the value contains the character.
func holds(v jinja.Value, r rune) bool {
	return anyText(v, func(text string) bool { return strings.ContainsRune(text, r) })
}

// hasSurrogate reports whether a text in the value contains an unpaired surrogate in its
// three-byte form.
func hasSurrogate(v jinja.Value) bool {
	return anyText(v, func(text string) bool {
		for i := 0; i+2 < len(text); i++ {
			at := strings.IndexByte(text[i:], 0xED)
			if at < 0 || i+at+1 >= len(text) {
				return false
			}
			if i += at; text[i+1] >= 0xA0 {
				return true
			}
		}
		return false
	})
}

func anyText(v jinja.Value, is func(string) bool) bool {
	switch v := v.(type) {
	case string:
		return is(v)
	case *jinja.List:
		for i := range v.Len() {
			if anyText(v.At(i), is) {
				return true
			}
		}
	case *jinja.Map:
		for i := range v.Len() {
			if anyText(v.Key(i), is) || anyText(v.ValueAt(i), is) {
				return true
			}
		}
	}
	return false
}

// escaped returns the guard as JSON writes it in ASCII-only output.
func escaped(guard rune) string { return fmt.Sprintf(`\u%04x`, guard) }
