package atif

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"relabel"
	"relabel/chat"
)

// text is a JSON string with its writer's bytes: an unpaired surrogate is kept as chat.DecodeString does.
type text string

// MarshalJSON writes an unpaired surrogate as an escape, and other bytes that are not UTF-8 as U+FFFD.
func (t text) MarshalJSON() ([]byte, error) { return chat.AppendString(nil, string(t)), nil }

// UnmarshalJSON reads a string or null, which is "".
func (t *text) UnmarshalJSON(raw []byte) error {
	if raw[0] != '"' && !isNull(raw) {
		return wrongType(raw, "string")
	}
	*t = text(chat.DecodeString(raw))
	return nil
}

func isNull(raw []byte) bool { return bytes.Equal(raw, []byte("null")) }

// wrongType is an error to which package json adds the field.
func wrongType(raw []byte, wanted string) error {
	kinds := map[byte]string{'{': "object", '[': "array", '"': "string", 't': "boolean", 'f': "boolean", 'n': "null"}
	got, ok := kinds[raw[0]]
	if !ok {
		got = "number"
	}
	return &json.UnmarshalTypeError{Value: got + " instead of " + wanted, Type: reflect.TypeFor[text]()}
}

// representable reports whether a JSON string can have every byte of s.
func representable(s string) bool { return chat.ValidText(relabel.Message{Content: s}) }

// exactText is a text of relabel's own fields: if JSON cannot represent it, its bytes are written in base64.
type exactText string

type inBase64 struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON writes a string, or an object with the bytes in base64.
func (t exactText) MarshalJSON() ([]byte, error) {
	if representable(string(t)) {
		return text(t).MarshalJSON()
	}
	return json.Marshal(inBase64{[]byte(t)})
}

// UnmarshalJSON reads either form.
func (t *exactText) UnmarshalJSON(raw []byte) error {
	if raw[0] != '{' {
		return (*text)(t).UnmarshalJSON(raw)
	}
	var b inBase64
	err := json.Unmarshal(raw, &b)
	*t = exactText(b.Base64)
	return err
}

// content is a message: a string, or a list of parts in other writers' documents.
type content string

// MarshalJSON writes a string.
func (c content) MarshalJSON() ([]byte, error) { return text(c).MarshalJSON() }

// UnmarshalJSON joins parts of text. Images and audio are refused, because relabel's messages are text.
func (c *content) UnmarshalJSON(raw []byte) error {
	if raw[0] != '[' {
		return (*text)(c).UnmarshalJSON(raw)
	}
	var parts []struct {
		Type   string          `json:"type"`
		Text   text            `json:"text"`
		Source json.RawMessage `json:"source"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	var joined strings.Builder
	for i, p := range parts {
		if p.Type != "text" {
			return relabel.Errorf(relabel.CodeInvalid, "part %d is of type %s: relabel's messages are text; remove the part, or describe it as text", i, strconv.Quote(p.Type))
		}
		joined.WriteString(string(p.Text))
	}
	*c = content(joined.String())
	return nil
}

// rawValue is a JSON value as it is written; nil for null and absence.
type rawValue []byte

// MarshalJSON returns v itself.
func (v rawValue) MarshalJSON() ([]byte, error) { return v, nil }

// UnmarshalJSON copies a value that is not null.
func (v *rawValue) UnmarshalJSON(raw []byte) error {
	*v = nil
	if !isNull(raw) {
		*v = bytes.Clone(raw)
	}
	return nil
}
