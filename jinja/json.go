package jinja

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"relabel"
)

// DecodeJSON reads one JSON value like Python's json.loads: integers have any size, floats over the
// maximum are infinite, NaN and Infinity are valid, lone surrogates are kept, and a duplicate key has its
// last value at its first position. Invalid JSON is a CodeInvalid error.
func DecodeJSON(raw []byte) (Value, error) {
	d := &decoder{in: raw}
	v, err := d.value(0)
	if err == nil {
		if d.space(); d.i < len(d.in) {
			err = faultf("data follows the value")
		}
	}
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "not JSON at byte %d: %v", d.i, err)
	}
	return v, nil
}

type decoder struct {
	in []byte
	i  int
}

func (d *decoder) space() {
	for d.i < len(d.in) && (d.in[d.i] == ' ' || d.in[d.i] == '\t' || d.in[d.i] == '\n' || d.in[d.i] == '\r') {
		d.i++
	}
}

// jsonNames are the values that are written as words.
var jsonNames = []struct {
	text  string
	value Value
}{{"null", nil}, {"true", true}, {"false", false}, {"NaN", math.NaN()}, {"Infinity", math.Inf(1)}, {"-Infinity", math.Inf(-1)}}

func (d *decoder) value(depth int) (Value, error) {
	if depth > maxNested {
		return nil, faultf("nested too deep")
	}
	d.space()
	if d.i == len(d.in) {
		return nil, faultf("a value is missing")
	}
	switch d.in[d.i] {
	case '"':
		return d.text()
	case '[':
		return d.list(depth)
	case '{':
		return d.object(depth)
	}
	for _, n := range jsonNames {
		if strings.HasPrefix(string(d.in[d.i:min(len(d.in), d.i+len(n.text))]), n.text) {
			d.i += len(n.text)
			return n.value, nil
		}
	}
	return d.number()
}

// next skips white space and returns the next byte, 0 at the end.
func (d *decoder) next() byte {
	d.space()
	if d.i == len(d.in) {
		return 0
	}
	return d.in[d.i]
}

func (d *decoder) list(depth int) (Value, error) {
	l := &List{}
	d.i++
	if d.next() == ']' {
		d.i++
		return l, nil
	}
	for {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		l.items = append(l.items, v)
		switch d.next() {
		case ',':
			d.i++
		case ']':
			d.i++
			return l, nil
		default:
			return nil, faultf("expected , or ]")
		}
	}
}

func (d *decoder) object(depth int) (Value, error) {
	m := NewMap()
	d.i++
	if d.next() == '}' {
		d.i++
		return m, nil
	}
	for {
		if d.next() != '"' {
			return nil, faultf("a key is missing")
		}
		key, err := d.text()
		if err != nil {
			return nil, err
		}
		if d.next() != ':' {
			return nil, faultf("expected :")
		}
		d.i++
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		m.Set(key, v)
		switch d.next() {
		case ',':
			d.i++
		case '}':
			d.i++
			return m, nil
		default:
			return nil, faultf("expected , or }")
		}
	}
}

func (d *decoder) digits() int {
	start := d.i
	for d.i < len(d.in) && d.in[d.i] >= '0' && d.in[d.i] <= '9' {
		d.i++
	}
	return d.i - start
}

func (d *decoder) number() (Value, error) {
	start := d.i
	if d.in[d.i] == '-' {
		d.i++
	}
	first := d.i
	if n := d.digits(); n == 0 || n > 1 && d.in[first] == '0' {
		return nil, faultf("not a value")
	}
	isFloat := false
	if d.i < len(d.in) && d.in[d.i] == '.' {
		d.i++
		if isFloat = true; d.digits() == 0 {
			return nil, faultf("digits are missing")
		}
	}
	if d.i < len(d.in) && (d.in[d.i] == 'e' || d.in[d.i] == 'E') {
		d.i++
		if d.i < len(d.in) && (d.in[d.i] == '+' || d.in[d.i] == '-') {
			d.i++
		}
		if isFloat = true; d.digits() == 0 {
			return nil, faultf("digits are missing")
		}
	}
	text := string(d.in[start:d.i])
	if isFloat {
		f, _ := strconv.ParseFloat(text, 64) // too large numbers are infinite, as in Python
		return f, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	if len(text) > maxDigits {
		return nil, faultf("an integer of more than %d digits", maxDigits)
	}
	n, _ := new(big.Int).SetString(text, 10)
	return n, nil
}

// text reads a string.
func (d *decoder) text() (string, error) {
	d.i++
	start := d.i
	for d.i < len(d.in) && d.in[d.i] != '"' && d.in[d.i] != '\\' && d.in[d.i] >= ' ' {
		d.i++
	}
	out := append([]byte(nil), d.in[start:d.i]...)
	for d.i < len(d.in) {
		c := d.in[d.i]
		switch {
		case c == '"':
			d.i++
			if !validText(out) {
				return "", faultf("a string is not UTF-8")
			}
			return string(out), nil
		case c < ' ':
			return "", faultf("a control character in a string")
		case c != '\\':
			out = append(out, c)
			d.i++
			continue
		}
		var err error
		if out, err = d.escape(out); err != nil {
			return "", err
		}
	}
	return "", faultf("a string is not closed")
}

// validText reports whether all bytes are UTF-8, lone surrogates allowed.
func validText(b []byte) bool {
	if utf8.Valid(b) {
		return true
	}
	for s := string(b); s != ""; {
		r, n := decodeRune(s)
		if r == utf8.RuneError && n == 1 {
			return false
		}
		s = s[n:]
	}
	return true
}

var jsonEscapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (d *decoder) escape(out []byte) ([]byte, error) {
	if d.i+1 >= len(d.in) {
		return nil, faultf("a string is not closed")
	}
	if c, ok := jsonEscapes[d.in[d.i+1]]; ok {
		d.i += 2
		return append(out, c), nil
	}
	unit, ok := d.unit(d.i)
	if !ok {
		return nil, faultf("an unknown escape")
	}
	d.i += 6
	if unit >= 0xD800 && unit < 0xDC00 {
		if low, ok := d.unit(d.i); ok && low >= 0xDC00 && low < 0xE000 {
			d.i += 6
			unit = (unit-0xD800)<<10 | (low - 0xDC00) + 0x10000
		}
	}
	return appendRune(out, unit), nil
}

// unit reads \uhhhh at i.
func (d *decoder) unit(i int) (rune, bool) {
	if i+6 > len(d.in) || d.in[i] != '\\' || d.in[i+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(d.in[i+2:i+6]), 16, 16)
	return rune(n), err == nil
}
