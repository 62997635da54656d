package jinja

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Texts are UTF-8 with lone surrogates in their three-byte form, which encoding/json would not keep. A
// character is a code point, as in Python.

// decodeRune is utf8.DecodeRuneInString that also reads surrogates. An invalid byte is one character.
func decodeRune(s string) (rune, int) {
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 && len(s) >= 3 && s[0] == 0xED && s[1] >= 0xA0 && s[1] <= 0xBF && s[2]&0xC0 == 0x80 {
		return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), 3
	}
	return r, n
}

// appendRune is utf8.AppendRune that also writes surrogates.
func appendRune(dst []byte, r rune) []byte {
	if r >= 0xD800 && r < 0xE000 {
		return append(dst, 0xED, 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
	}
	return utf8.AppendRune(dst, r)
}

// runes splits a text into code points.
func runes(s string) []rune {
	out := make([]rune, 0, len(s))
	for i := 0; i < len(s); {
		r, n := decodeRune(s[i:])
		out = append(out, r)
		i += n
	}
	return out
}

// fromRunes joins code points.
func fromRunes(rs []rune) string {
	out := make([]byte, 0, len(rs))
	for _, r := range rs {
		out = appendRune(out, r)
	}
	return string(out)
}

// isASCII reports whether each byte is a character.
func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// length counts code points.
func length(s string) int {
	n := 0
	for i := 0; i < len(s); n++ {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, w := decodeRune(s[i:])
		i += w
	}
	return n
}

// isSpace is Python's str.isspace of one character.
func isSpace(r rune) bool {
	switch {
	case r >= 9 && r <= 13, r >= 28 && r <= 32, r == 0x85, r == 0xA0, r == 0x1680, r >= 0x2000 && r <= 0x200A,
		r == 0x2028, r == 0x2029, r == 0x202F, r == 0x205F, r == 0x3000:
		return true
	}
	return false
}

func trimLeftFunc(s string, drop func(rune) bool) string {
	for s != "" {
		r, n := decodeRune(s)
		if !drop(r) {
			break
		}
		s = s[n:]
	}
	return s
}

func trimRightFunc(s string, drop func(rune) bool) string {
	for s != "" {
		r, n := utf8.DecodeLastRuneInString(s)
		if r == utf8.RuneError && n == 1 && len(s) >= 3 && s[len(s)-3] == 0xED {
			r, n = decodeRune(s[len(s)-3:])
		}
		if !drop(r) {
			break
		}
		s = s[:len(s)-n]
	}
	return s
}

// toText is Python's str(v).
func toText(v Value) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case markup:
		return string(v), nil
	case *undefined:
		return "", nil
	}
	out, err := appendRepr(nil, v, 0)
	return string(out), err
}

// repr is Python's repr of a text.
func repr(s string) string { return string(appendQuoted(nil, s)) }

// appendRepr appends Python's repr(v). It fails for values that Python prints with a memory address.
func appendRepr(dst []byte, v Value, depth int) ([]byte, error) {
	if depth > maxNested {
		return dst, faultf("values are nested too deep")
	}
	switch v := v.(type) {
	case nil:
		return append(dst, "None"...), nil
	case bool:
		if v {
			return append(dst, "True"...), nil
		}
		return append(dst, "False"...), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	case *big.Int:
		if v.BitLen() > maxDigits*4 {
			return dst, faultf("the number is too large to print")
		}
		return v.Append(dst, 10), nil
	case float64:
		return appendFloat(dst, v, "nan", "inf"), nil
	case string:
		return appendQuoted(dst, v), nil
	case markup:
		return append(appendQuoted(append(dst, "Markup("...), string(v)), ')'), nil
	case *List:
		return appendItems(append(dst, '['), v.items, "]", depth)
	case *tuple:
		end := ")"
		if len(v.items) == 1 {
			end = ",)"
		}
		return appendItems(append(dst, '('), v.items, end, depth)
	case *Map:
		return appendMapRepr(dst, v, depth)
	case *undefined:
		return append(dst, "Undefined"...), nil
	case span:
		dst = fmt.Appendf(dst, "range(%d, %d", v.start, v.stop)
		if v.step != 1 {
			dst = fmt.Appendf(dst, ", %d", v.step)
		}
		return append(dst, ')'), nil
	case *view:
		dst = append(append(append(dst, "dict_"...), v.kind...), "(["...)
		return appendItems(dst, v.items(), "])", depth)
	case *namespace:
		dst, err := appendRepr(append(dst, "<Namespace "...), v.attrs, depth+1)
		return append(dst, '>'), err
	case *macro:
		if v.def.name == "" {
			return append(dst, "<Macro anonymous>"...), nil
		}
		return append(appendQuoted(append(dst, "<Macro "...), v.def.name), '>'), nil
	case *loop:
		return dst, faultf("the text of a loop is not supported")
	}
	return dst, faultf("the template prints a %s, whose text differs between runs in Python", typeName(v))
}

func appendItems(dst []byte, items []Value, end string, depth int) ([]byte, error) {
	var err error
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if dst, err = appendRepr(dst, item, depth+1); err != nil {
			return dst, err
		}
	}
	return append(dst, end...), nil
}

func appendMapRepr(dst []byte, m *Map, depth int) ([]byte, error) {
	var err error
	dst = append(dst, '{')
	for i, k := range m.keys {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if dst, err = appendRepr(dst, k, depth+1); err != nil {
			return dst, err
		}
		if dst, err = appendRepr(append(dst, ": "...), m.vals[i], depth+1); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// appendQuoted appends Python's repr of a text.
func appendQuoted(dst []byte, s string) []byte {
	quote := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 && strings.IndexByte(s, '"') < 0 {
		quote = '"'
	}
	dst = append(dst, quote)
	for i := 0; i < len(s); {
		r, n := decodeRune(s[i:])
		switch {
		case r == rune(quote) || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case isPrintable(r):
			dst = append(dst, s[i:i+n]...)
		default:
			dst = appendEscape(dst, r)
		}
		i += n
	}
	return append(dst, quote)
}

// isPrintable is Python's str.isprintable of one character.
func isPrintable(r rune) bool {
	return r < 0x7F && r >= 0x20 || r > 0x7F && unicode.IsPrint(r)
}

// appendEscape appends the shortest of \xhh, \uhhhh and \Uhhhhhhhh.
func appendEscape(dst []byte, r rune) []byte {
	switch {
	case r < 0x100:
		return fmt.Appendf(dst, `\x%02x`, r)
	case r < 0x10000:
		return fmt.Appendf(dst, `\u%04x`, r)
	}
	return fmt.Appendf(dst, `\U%08x`, r)
}
