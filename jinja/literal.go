package jinja

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Numbers in Jinja2's lexer.
var (
	floatPattern   = regexp.MustCompile(`(?i)^(?:[0-9]+_)*[0-9]+(?:(?:\.(?:[0-9]+_)*[0-9]+)?e[+\-]?(?:[0-9]+_)*[0-9]+|\.(?:[0-9]+_)*[0-9]+)`)
	integerPattern = regexp.MustCompile(`(?i)^(?:0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[0-9a-f])+|[1-9](?:_?[0-9])*|0(?:_?0)*)`)
)

// number reads an integer or a float.
func (l *lexer) number() error {
	afterDot := l.pos > 0 && l.source[l.pos-1] == '.'
	if m := floatPattern.FindString(l.rest()); m != "" && !afterDot {
		f, _ := strconv.ParseFloat(strings.ReplaceAll(m, "_", ""), 64)
		if math.IsInf(f, 0) {
			return faultAt(l.pos, "the number %s is too large", m)
		}
		l.tokens = append(l.tokens, token{kind: kindFloat, value: f, pos: l.pos})
		l.advance(l.pos + len(m))
		return nil
	}
	m := integerPattern.FindString(l.rest())
	n, ok := new(big.Int).SetString(strings.ReplaceAll(m, "_", ""), 0)
	if !ok || len(m) > maxDigits {
		return faultAt(l.pos, "not a number")
	}
	l.tokens = append(l.tokens, token{kind: kindInteger, value: fromBig(n), pos: l.pos})
	l.advance(l.pos + len(m))
	return nil
}

// string reads a string in quotes.
func (l *lexer) string(quote byte) error {
	for i := l.pos + 1; i < len(l.source); i++ {
		switch l.source[i] {
		case '\\':
			_, n := decodeRune(l.source[i+1:])
			i += n
		case quote:
			text, err := unescape(l.source[l.pos+1 : i])
			if err != nil {
				return at(l.pos, err)
			}
			l.add(kindString, text, l.pos)
			l.advance(i + 1)
			return nil
		}
	}
	return faultAt(l.pos, "unexpected character '%c'", quote)
}

// simpleEscapes are the escapes of one character.
var simpleEscapes = map[byte]string{'\n': "", '\\': "\\", '\'': "'", '"': "\"", 'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v"}

// unescape reads the escapes of a string like Python does after Jinja2 has converted the text to ASCII:
// it keeps unknown escapes, and writes a character outside of ASCII after a backslash as an escape.
func unescape(s string) (string, error) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		c := s[i]
		if c != '\\' || i+1 == len(s) {
			out = append(out, c)
			i++
			continue
		}
		c = s[i+1]
		i += 2
		plain, ok := simpleEscapes[c]
		switch {
		case ok:
			out = append(out, plain...)
		case c >= '0' && c <= '7':
			n := 1
			for n < 3 && i-1+n < len(s) && s[i-1+n] >= '0' && s[i-1+n] <= '7' {
				n++
			}
			v, _ := strconv.ParseUint(s[i-1:i-1+n], 8, 32)
			out = appendRune(out, rune(v))
			i += n - 1
		case c == 'x' || c == 'u' || c == 'U':
			n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
			if i+n > len(s) {
				return "", faultf("truncated \\%c escape", c)
			}
			v, err := strconv.ParseUint(s[i:i+n], 16, 32)
			if err != nil || v > utf8.MaxRune {
				return "", faultf("illegal \\%c escape", c)
			}
			out = appendRune(out, rune(v))
			i += n
		case c == 'N':
			return "", faultf("characters by name (\\N) are not supported")
		case c >= utf8.RuneSelf:
			r, n := decodeRune(s[i-1:])
			out = append(out, '\\')
			out = append(out, strings.TrimPrefix(string(appendEscape(nil, r)), "\\")...)
			i += n - 1
		default:
			out = append(out, '\\', c)
		}
	}
	return string(out), nil
}
