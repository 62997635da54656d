package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is the kind of a token. That of an operator is its text.
type kind string

const (
	kindData          kind = "template data"
	kindVariableBegin kind = "begin of print statement"
	kindVariableEnd   kind = "end of print statement"
	kindBlockBegin    kind = "begin of statement block"
	kindBlockEnd      kind = "end of statement block"
	kindName          kind = "name"
	kindString        kind = "string"
	kindInteger       kind = "integer"
	kindFloat         kind = "float"
	kindEnd           kind = "end of template"
)

// token is a part of the source with its position.
type token struct {
	kind  kind
	text  string // of data, names and strings
	value Value  // of numbers
	pos   int
}

// is reports whether the token is the name given.
func (t token) is(name string) bool { return t.kind == kindName && t.text == name }

// describe names a token in errors.
func (t token) describe() string {
	if t.kind == kindName {
		return t.text
	}
	return string(t.kind)
}

// normalize converts all newlines to \n and removes one at the end, like Jinja2.
func normalize(source string) string {
	if strings.IndexByte(source, '\r') >= 0 {
		source = strings.ReplaceAll(strings.ReplaceAll(source, "\r\n", "\n"), "\r", "\n")
	}
	return strings.TrimSuffix(source, "\n")
}

// lexer splits a source into tokens.
type lexer struct {
	source   string
	pos      int
	fresh    bool // the position is at the start of a line
	open     []byte
	tokens   []token
	openedAt int
}

func tokenize(source string) ([]token, error) {
	l := &lexer{source: source, fresh: true}
	for l.pos < len(source) {
		if err := l.root(); err != nil {
			return nil, err
		}
	}
	l.add(kindEnd, "", len(source))
	return l.tokens, nil
}

func (l *lexer) add(k kind, text string, pos int) {
	l.tokens = append(l.tokens, token{kind: k, text: text, pos: pos})
}

// rest is the remaining source.
func (l *lexer) rest() string { return l.source[l.pos:] }

// advance moves to pos and records whether a line begins there.
func (l *lexer) advance(pos int) {
	l.fresh = pos > 0 && l.source[pos-1] == '\n'
	l.pos = pos
}

// root reads template data up to the next tag, and that tag.
func (l *lexer) root() error {
	begin := l.nextTag()
	if begin < 0 {
		l.add(kindData, l.rest(), l.pos)
		l.advance(len(l.source))
		return nil
	}
	which := l.source[begin+1]
	after := begin + 2
	sign := signAt(l.source, after)
	if sign != 0 {
		after++
	}
	text := l.strip(l.source[l.pos:begin], sign, which != '{')
	if text != "" {
		l.add(kindData, text, l.pos)
	}
	l.openedAt = begin
	l.advance(after)
	switch which {
	case '{':
		l.add(kindVariableBegin, "", begin)
		return l.code("}}", kindVariableEnd)
	case '%':
		l.add(kindBlockBegin, "", begin)
		return l.code("%}", kindBlockEnd)
	}
	return l.comment()
}

// nextTag returns the position of the next tag, or -1.
func (l *lexer) nextTag() int {
	for i := l.pos; ; i++ {
		j := strings.IndexByte(l.source[i:], '{')
		if j < 0 || i+j+1 >= len(l.source) {
			return -1
		}
		i += j
		if c := l.source[i+1]; c == '{' || c == '%' || c == '#' {
			return i
		}
	}
}

// signAt returns the sign - or + at pos, or 0.
func signAt(source string, pos int) byte {
	if pos < len(source) && (source[pos] == '-' || source[pos] == '+') {
		return source[pos]
	}
	return 0
}

// strip removes the white space before a tag that its sign, or lstrip_blocks, removes.
func (l *lexer) strip(text string, sign byte, block bool) string {
	switch {
	case sign == '-':
		return trimRightFunc(text, isSpace)
	case sign == '+' || !block:
		return text
	}
	line := strings.LastIndexByte(text, '\n') + 1
	if (line > 0 || l.fresh) && line < len(text) && trimRightFunc(text[line:], isSpace) == "" {
		return text[:line]
	}
	return text
}

func skipSpace(source string, pos int) int {
	for pos < len(source) {
		r, n := decodeRune(source[pos:])
		if !isSpace(r) {
			break
		}
		pos += n
	}
	return pos
}

// tagEnd returns the end of the closing mark at pos, including the white space after it that its sign, or
// trim_blocks, removes.
func tagEnd(source string, pos int, mark string, trim bool) (int, bool) {
	rest := source[pos:]
	switch {
	case strings.HasPrefix(rest, mark):
		pos += len(mark)
		if trim && pos < len(source) && source[pos] == '\n' {
			pos++
		}
		return pos, true
	case strings.HasPrefix(rest, "-"+mark):
		return skipSpace(source, pos+1+len(mark)), true
	case trim && strings.HasPrefix(rest, "+"+mark):
		return pos + 1 + len(mark), true
	}
	return 0, false
}

// comment reads up to the end of a comment.
func (l *lexer) comment() error {
	i := strings.Index(l.rest(), "#}")
	if i < 0 {
		if l.pos == len(l.source) {
			return nil
		}
		return faultAt(l.openedAt, "missing end of comment tag")
	}
	i += l.pos
	if i > l.pos && (l.source[i-1] == '-' || l.source[i-1] == '+') {
		i--
	}
	end, _ := tagEnd(l.source, i, "#}", true)
	l.advance(end)
	return nil
}

// code reads the tokens of a tag up to its closing mark.
func (l *lexer) code(mark string, closing kind) error {
	l.open = l.open[:0]
	for l.pos < len(l.source) {
		if len(l.open) == 0 {
			if end, ok := tagEnd(l.source, l.pos, mark, closing == kindBlockEnd); ok {
				l.add(closing, "", l.pos)
				l.advance(end)
				return nil
			}
		}
		if err := l.token(); err != nil {
			return err
		}
	}
	return nil
}

// token reads one token, or the white space before it.
func (l *lexer) token() error {
	if next := skipSpace(l.source, l.pos); next > l.pos {
		l.advance(next)
		return nil
	}
	c := l.source[l.pos]
	switch {
	case c >= '0' && c <= '9':
		return l.number()
	case c == '\'' || c == '"':
		return l.string(c)
	}
	if n := nameLength(l.rest()); n > 0 {
		name := l.source[l.pos : l.pos+n]
		if !isIdentifier(name) {
			return faultAt(l.pos, "invalid character in identifier")
		}
		l.add(kindName, name, l.pos)
		l.advance(l.pos + n)
		return nil
	}
	return l.operator()
}

// nameLength returns the length of the name at the start of s, in bytes.
func nameLength(s string) int {
	for i := 0; i < len(s); {
		r, n := decodeRune(s[i:])
		if !(r == '_' || r < utf8.RuneSelf && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') ||
			r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r))) {
			return i
		}
		i += n
	}
	return len(s)
}

// isIdentifier reports whether a name is an identifier in Python.
func isIdentifier(s string) bool {
	for i, r := range s {
		ok := r == '_' || unicode.IsLetter(r) || i > 0 && (unicode.IsDigit(r) || unicode.IsMark(r))
		if !ok {
			return false
		}
	}
	return s != ""
}

// operators are sorted so that none is after its own prefix.
var operators = []string{"//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}", ">", "<", "=", ".", ":", "|", ",", ";"}

func (l *lexer) operator() error {
	for _, op := range operators {
		if !strings.HasPrefix(l.rest(), op) {
			continue
		}
		if err := l.balance(op[0]); err != nil {
			return err
		}
		l.add(kind(op), "", l.pos)
		l.advance(l.pos + len(op))
		return nil
	}
	r, _ := decodeRune(l.rest())
	return faultAt(l.pos, "unexpected character %q", r)
}

// balance tracks brackets, because a tag does not end within them.
func (l *lexer) balance(c byte) error {
	switch c {
	case '{':
		l.open = append(l.open, '}')
	case '(':
		l.open = append(l.open, ')')
	case '[':
		l.open = append(l.open, ']')
	case '}', ')', ']':
		if len(l.open) == 0 {
			return faultAt(l.pos, "unexpected '%c'", c)
		}
		want := l.open[len(l.open)-1]
		if want != c {
			return faultAt(l.pos, "unexpected '%c', expected '%c'", c, want)
		}
		l.open = l.open[:len(l.open)-1]
	}
	return nil
}
