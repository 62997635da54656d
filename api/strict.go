package api

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"relabel"
)

// CodeMalformed is an error in the form of a request: no JSON, no UTF-8, no proper address.
const CodeMalformed relabel.Code = "malformed"

// Bounds of the JSON of a request.
const (
	maxDepth  = 32      // levels; the deepest that is needed is 4
	maxValues = 200_000 // keys, values and brackets; a benchmark may name 100,000 instances and exclude 16,000
)

// strictReader walks through JSON and tracks its position.
type strictReader struct {
	dec   *json.Decoder
	root  string // name of the whole value
	stack []level
}

// level is an object or a list that the reader is in.
type level struct {
	keys  map[string]bool // of an object; nil for a list
	key   string          // the object's current key, "" before one
	index int             // of a list
}

// CheckJSON refuses JSON that two readers may understand in two ways (duplicate keys,
// broken UTF-8, lone surrogates), that is too deep or has too many values, or that holds NaN,
// a NUL or a null, which would silently be the default. Its error is CodeMalformed or CodeInvalid and
// names the field below root, which may be "".
func CheckJSON(body []byte, root string) error {
	if !utf8.Valid(body) {
		return relabel.Errorf(CodeMalformed, "not UTF-8").On(root)
	}
	r := &strictReader{dec: json.NewDecoder(bytes.NewReader(body)), root: root}
	r.dec.UseNumber()
	values := 0
	for done := false; !done; values++ {
		token, err := r.dec.Token()
		if err != nil {
			return r.syntaxError(body, err)
		}
		if values == maxValues {
			return relabel.Errorf(CodeMalformed, "JSON with more than %d keys and values", maxValues).On(root)
		}
		if done, err = r.step(token); err != nil {
			return err
		}
	}
	if _, err := r.dec.Token(); err != io.EOF {
		return relabel.Errorf(CodeMalformed, "more than one JSON value").On(root)
	}
	if hasLoneSurrogate(body) {
		return relabel.Errorf(CodeMalformed, "contains a lone surrogate").On(root)
	}
	return nil
}

// hasLoneSurrogate checks the escapes of valid JSON, in which backslashes occur only in
// strings.
func hasLoneSurrogate(body []byte) bool {
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			continue
		}
		i++
		if body[i] != 'u' {
			continue
		}
		first := escaped(body[i+1:])
		i += 4
		if !utf16.IsSurrogate(first) {
			continue
		}
		rest := body[i+1:]
		if !bytes.HasPrefix(rest, []byte(`\u`)) || utf16.DecodeRune(first, escaped(rest[2:])) == utf8.RuneError {
			return true
		}
		i += 6
	}
	return false
}

// escaped reads the four hexadecimal digits of an escape.
func escaped(b []byte) rune {
	unit, _ := strconv.ParseUint(string(b[:4]), 16, 16) // valid JSON has them
	return rune(unit)
}

// step consumes one token; done reports whether the value is complete.
func (r *strictReader) step(token json.Token) (done bool, err error) {
	switch v := token.(type) {
	case json.Delim:
		if v == '}' || v == ']' {
			r.stack = r.stack[:len(r.stack)-1]
			break
		}
		if len(r.stack) == maxDepth {
			return false, relabel.Errorf(CodeMalformed, "JSON nested deeper than %d", maxDepth).On(r.place())
		}
		l := level{}
		if v == '{' {
			l.keys = map[string]bool{}
		}
		r.stack = append(r.stack, l)
		return false, nil
	case string:
		if top := r.top(); top != nil && top.keys != nil && top.key == "" {
			return false, r.key(top, v)
		}
		if strings.ContainsRune(v, 0) {
			return false, relabel.Errorf(relabel.CodeInvalid, "contains a NUL character").On(r.place())
		}
	case json.Number:
		if _, err := strconv.ParseFloat(v.String(), 64); err != nil {
			return false, relabel.Errorf(relabel.CodeInvalid, "%.40s is out of range", v).On(r.place())
		}
	case nil:
		if !r.freeForm() {
			return false, relabel.Errorf(relabel.CodeInvalid, "is null; omit it, or give a value").On(r.place())
		}
	}
	if top := r.top(); top != nil {
		top.key = ""
		top.index++
	}
	return len(r.stack) == 0, nil
}

// freeForms are the fields that hold JSON of any form.
var freeForms = []string{"template_options", "chat_template_kwargs"}

// freeForm reports whether the reader is inside a field that holds JSON of any form.
func (r *strictReader) freeForm() bool {
	isFree := func(l level) bool { return slices.Contains(freeForms, l.key) }
	return len(r.stack) > 0 && (slices.Contains(freeForms, r.root) || slices.ContainsFunc(r.stack[:len(r.stack)-1], isFree))
}

func (r *strictReader) top() *level {
	if len(r.stack) == 0 {
		return nil
	}
	return &r.stack[len(r.stack)-1]
}

// key takes an object's key. A key is never empty: no field has that name.
func (r *strictReader) key(top *level, key string) error {
	switch {
	case key == "" || strings.ContainsRune(key, 0):
		return relabel.Errorf(relabel.CodeInvalid, "a field without a name").On(r.place())
	case top.keys[key]:
		top.key = key
		return relabel.Errorf(CodeMalformed, "is given twice").On(r.place())
	}
	top.keys[key], top.key = true, key
	return nil
}

// place names the reader's position, with the root "body" as huma does: body.beta.values[2].
func (r *strictReader) place() string {
	var b strings.Builder
	b.WriteString(r.root)
	for _, l := range r.stack {
		switch {
		case l.keys == nil:
			b.WriteString("[" + strconv.Itoa(l.index) + "]")
		case l.key != "":
			b.WriteString("." + l.key)
		}
	}
	return strings.TrimPrefix(b.String(), ".")
}

// syntaxError explains a text that is not JSON. It reports NaN and infinities, which some
// encoders write, as errors of the field.
func (r *strictReader) syntaxError(body []byte, err error) error {
	rest := strings.TrimLeft(string(body[min(int(r.dec.InputOffset()), len(body)):]), " \t\r\n:,-")
	for _, word := range []string{"NaN", "nan", "Infinity", "inf"} {
		if strings.HasPrefix(rest, word) {
			return relabel.Errorf(relabel.CodeInvalid, "%s is not a number", word).On(r.place())
		}
	}
	return relabel.Errorf(CodeMalformed, "not JSON").On(r.root).Because(err)
}
