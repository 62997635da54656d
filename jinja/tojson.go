package jinja

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// dumper writes JSON as Python's json.dumps does.
type dumper struct {
	ascii      bool
	indent     *string // of one level; nil writes one line
	item, pair string  // the separators
	out        []byte
}

// tojson is transformers' replacement for the filter of Jinja2.
func tojson(r *run, v Value, a []Value) (Value, error) {
	d := &dumper{ascii: truth(a[0]), item: ", ", pair: ": "}
	if a[1] != nil {
		indent, err := indentOf(a[1])
		if err != nil {
			return nil, err
		}
		d.indent, d.item = &indent, ","
	}
	if a[2] != nil {
		parts, err := take(r, a[2], 2)
		if err != nil {
			return nil, err
		}
		if d.item, err = textArg(parts[0]); err != nil {
			return nil, err
		}
		if d.pair, err = textArg(parts[1]); err != nil {
			return nil, err
		}
	}
	if err := d.write(v, 0); err != nil {
		return nil, err
	}
	return string(d.out), r.built(len(d.out))
}

func indentOf(v Value) (string, error) {
	if s, ok := plainText(v); ok {
		return s, nil
	}
	n, err := intArg(v)
	if err != nil {
		return "", err
	}
	if n > maxNested {
		return "", faultf("an indent of %d is too large", n)
	}
	return strings.Repeat(" ", max(n, 0)), nil
}

func (d *dumper) newline(depth int) {
	if d.indent != nil {
		d.out = append(d.out, '\n')
		for range depth {
			d.out = append(d.out, *d.indent...)
		}
	}
}

func (d *dumper) write(v Value, depth int) error {
	if depth > maxNested || len(d.out) > maxText {
		return faultf("a value is too large or too deep for tojson")
	}
	switch v := v.(type) {
	case nil:
		d.out = append(d.out, "null"...)
	case bool:
		d.out = fmt.Appendf(d.out, "%t", v)
	case int64:
		d.out = fmt.Appendf(d.out, "%d", v)
	case *big.Int:
		var err error
		d.out, err = appendRepr(d.out, v, 0)
		return err
	case float64:
		d.out = appendJSONFloat(d.out, v)
	case string:
		d.out = appendJSONText(d.out, v, d.ascii)
	case markup:
		d.out = appendJSONText(d.out, string(v), d.ascii)
	case *List, *tuple:
		items, _ := itemsOf(v)
		return d.items(items, depth)
	case *Map:
		return d.object(v, depth)
	default:
		return faultf("Object of type %s is not JSON serializable", typeName(v))
	}
	return nil
}

func (d *dumper) items(items []Value, depth int) error {
	if len(items) == 0 {
		d.out = append(d.out, "[]"...)
		return nil
	}
	d.out = append(d.out, '[')
	for i, item := range items {
		if i > 0 {
			d.out = append(d.out, d.item...)
		}
		d.newline(depth + 1)
		if err := d.write(item, depth+1); err != nil {
			return err
		}
	}
	d.newline(depth)
	d.out = append(d.out, ']')
	return nil
}

func (d *dumper) object(m *Map, depth int) error {
	if len(m.keys) == 0 {
		d.out = append(d.out, "{}"...)
		return nil
	}
	d.out = append(d.out, '{')
	for i := range m.keys {
		if i > 0 {
			d.out = append(d.out, d.item...)
		}
		d.newline(depth + 1)
		key, err := jsonKey(m.keys[i])
		if err != nil {
			return err
		}
		d.out = append(appendJSONText(d.out, key, d.ascii), d.pair...)
		if err := d.write(m.vals[i], depth+1); err != nil {
			return err
		}
	}
	d.newline(depth)
	d.out = append(d.out, '}')
	return nil
}

// jsonKey returns the text of a key.
func jsonKey(k Value) (string, error) {
	switch k := k.(type) {
	case string:
		return k, nil
	case nil:
		return "null", nil
	case bool:
		return fmt.Sprint(k), nil
	case float64:
		return string(appendJSONFloat(nil, k)), nil
	case int64, *big.Int:
		return toText(k)
	}
	return "", faultf("keys must be str, int, float, bool or None, not %s", typeName(k))
}

func appendJSONFloat(dst []byte, f float64) []byte { return appendFloat(dst, f, "NaN", "Infinity") }

// appendJSONText appends a quoted string; ascii escapes all characters outside of ASCII.
func appendJSONText(dst []byte, s string, ascii bool) []byte {
	dst = append(slices.Grow(dst, len(s)+len(s)/16+2), '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && (c < 0x7F || !ascii) {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		n := 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\b':
			dst = append(dst, `\b`...)
		default:
			var r rune
			if r, n = decodeRune(s[i:]); r >= 0x10000 {
				dst = fmt.Appendf(dst, `\u%04x\u%04x`, 0xD800+(r-0x10000)>>10, 0xDC00+(r-0x10000)&0x3FF)
			} else {
				dst = fmt.Appendf(dst, `\u%04x`, r)
			}
		}
		i += n
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}
