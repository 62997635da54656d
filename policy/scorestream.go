package policy

import (
	"encoding/json"
	"fmt"
	"io"
)

// Bounds on what a json.Decoder keeps in memory of an answer that it reads token by token.
const (
	maxScoreToken = 64 << 10 // bytes of a text, a number or white space
	maxScoreDepth = 32       // objects and lists around a value; the scores are in 6
)

// limited reads at most left bytes of JSON, whose tokens and depth it bounds. It keeps the error of its
// source apart from those of its content.
type limited struct {
	from io.Reader
	left int64
	over bool
	err  error

	token, depth    int // bytes since the last sign of structure, and open objects and lists
	text, backslash bool
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		l.over = true
		return 0, io.EOF
	}
	n, err := l.from.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	if err != nil && err != io.EOF {
		l.err = err
	}
	if said := l.check(p[:n]); said != "" {
		return 0, said
	}
	return n, err
}

// check follows the structure of the JSON text, and returns the problem of a token or of a depth beyond
// the bounds.
func (l *limited) check(part []byte) problem {
	for _, b := range part {
		l.token++
		switch {
		case l.backslash:
			l.backslash = false
		case l.text:
			l.backslash = b == '\\'
			l.text = b != '"'
		default:
			l.structure(b)
		}
		if l.token > maxScoreToken || l.depth > maxScoreDepth {
			return "its answer has values that no scores have: long texts, or lists in lists"
		}
	}
	return ""
}

// structure follows a byte outside of texts.
func (l *limited) structure(b byte) {
	switch b {
	case '"':
		l.text = true
	case '{', '[':
		l.depth++
		l.token = 0
	case '}', ']':
		l.depth--
		l.token = 0
	case ',', ':':
		l.token = 0
	}
}

// fields calls field for each field of the object that comes next in a stream. field must read the value.
func fields(d *json.Decoder, field func(name string) error) error {
	if err := delimiter(d, '{'); err != nil {
		return err
	}
	return restOfFields(d, field)
}

// restOfFields is fields of an object that is open.
func restOfFields(d *json.Decoder, field func(name string) error) error {
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		text, _ := name.(string) // the decoder knows that it is a key
		if err := field(text); err != nil {
			return err
		}
	}
	return delimiter(d, '}')
}

// items calls item for each item of the array that comes next in a stream. item must read it.
func items(d *json.Decoder, item func(i int) error) error {
	if err := delimiter(d, '['); err != nil {
		return err
	}
	return restOfItems(d, item)
}

// restOfItems is items of a list that is open.
func restOfItems(d *json.Decoder, item func(i int) error) error {
	for i := 0; d.More(); i++ {
		if err := item(i); err != nil {
			return err
		}
	}
	return delimiter(d, ']')
}

func delimiter(d *json.Decoder, want json.Delim) error {
	got, err := d.Token()
	if err == nil && got != want {
		err = fmt.Errorf("it has %v instead of %v", got, want)
	}
	return err
}

// next reads a text, a number, true, false or null as raw, or opens the object or list that comes next.
func next(d *json.Decoder) (raw json.RawMessage, opened json.Delim, err error) {
	t, err := d.Token()
	if err != nil {
		return nil, 0, err
	}
	if opened, ok := t.(json.Delim); ok {
		return nil, opened, nil
	}
	raw, err = json.Marshal(t)
	return raw, 0, err
}

// scalar is next for a value that cannot be used if it is an object or a list: then raw is {}.
func scalar(d *json.Decoder) (raw json.RawMessage, err error) {
	raw, opened, err := next(d)
	if err != nil || opened == 0 {
		return raw, err
	}
	return json.RawMessage("{}"), skipRest(d, opened)
}

// skip reads a value and forgets it, token by token.
func skip(d *json.Decoder) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	opened, _ := t.(json.Delim)
	return skipRest(d, opened)
}

// skipRest is skip of a value whose first token opened it, or (0) was all of it.
func skipRest(d *json.Decoder, opened json.Delim) error {
	if opened == 0 {
		return nil
	}
	for depth := 1; depth > 0; {
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return nil
}
