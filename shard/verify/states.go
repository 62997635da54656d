package verify

import (
	"encoding/json"
	"fmt"
	"strings"

	"relabel"
	"relabel/chat"
)

// states reads the states of rows one after the other. Most states begin with the whole
// previous one, which is cached, so that only the rest is parsed.
type states struct {
	text     string // of the previous state, without the closing bracket of the array
	messages []relabel.Message
}

// read parses messages_json.
func (s *states) read(text string) ([]relabel.Message, error) {
	added := s.after(text)
	if added == "" {
		s.messages, added = nil, text
	}
	s.text = "" // nothing continues an invalid state
	from := len(s.messages)
	var raw []json.RawMessage
	if err := json.Unmarshal([]byte(added), &raw); err != nil {
		return nil, fmt.Errorf("messages_json is not a JSON array: %w", err)
	}
	for i, text := range raw {
		m, err := chat.DecodeMessage(text)
		if err != nil {
			return nil, fmt.Errorf("messages_json: message %d is not a chat message", from+i)
		}
		s.messages = append(s.messages, m)
	}
	if !sameText(added, string(chat.AppendMessages(nil, s.messages[from:]))) {
		return nil, fmt.Errorf("messages_json is not in canonical form: fields, order or spaces differ")
	}
	if len(s.messages) > 0 {
		s.text = strings.TrimSuffix(text, "]")
	}
	return s.messages, nil
}

// after returns what text adds to the previous state, as an array, "" if it does not continue
// that state.
func (s *states) after(text string) string {
	rest, goesOn := strings.CutPrefix(text, s.text)
	switch {
	case s.text == "" || !goesOn:
		return ""
	case rest == "]":
		return "[]"
	case strings.HasPrefix(rest, ",{"):
		return "[" + rest[1:]
	}
	return ""
}

// sameText reports whether two JSON texts are equal, except that the first may contain U+FFFD as
// an escape sequence, which stands for a byte of invalid UTF-8.
func sameText(a, b string) bool {
	const escape, character = `\ufffd`, "\ufffd"
	for a != b {
		n := 0
		for n < len(a) && n < len(b) && a[n] == b[n] {
			n++
		}
		if !strings.HasPrefix(a[n:], escape) || !strings.HasPrefix(b[n:], character) {
			return false
		}
		a, b = a[n+len(escape):], b[n+len(character):]
	}
	return true
}
