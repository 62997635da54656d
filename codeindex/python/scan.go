package python

import "bytes"

// A scanner reads the logical lines of a source. It takes what is wrong as well as it can.
type scanner struct {
	src      []byte
	at       int
	line     int32
	frames   []frame // what is open
	tokens   []token // of the logical line, with kEnd at its end
	col, alt int     // its indent with tabs of eight columns and of one
	imports  bool    // it has the word import
	tooLong  bool    // it has more tokens than are read
	verdict
}

// A frame is an open bracket, an f-string ('f'), a replacement field of it ('F') or the format of a
// field (':').
type frame struct {
	kind, quote byte
	triple, raw bool
}

// maxFrames is how many brackets Python lets be open.
const maxFrames = 200

// maxTokens is how many tokens of a logical line are read, for the memory that they take.
const maxTokens = 1 << 22

// next reads a logical line; it returns false at the end of what is read.
func (s *scanner) next() bool {
	s.tokens = s.tokens[:0]
	s.frames = s.frames[:0]
	s.imports = false
	if !s.indent() {
		return false
	}
	for s.more() {
		if len(s.tokens) > maxTokens {
			s.tooLong = true
			return false
		}
	}
	end := int32(s.at)
	s.tokens = append(s.tokens, token{kind: kEnd, line: s.line, end: s.line, from: end, to: end})
	return true
}

// indent skips blank lines and comments and measures the indent of the next line with more.
func (s *scanner) indent() bool {
	col, alt, continued := 0, 0, 0
	for s.at < len(s.src) {
		switch s.src[s.at] {
		case ' ':
			col++
			alt++
		case '\t':
			col = (col/8 + 1) * 8
			alt++
		case '\f':
			col, alt = 0, 0
		case '#':
			s.comment()
			continue
		case '\n', '\r':
			s.newline()
			col, alt, continued = 0, 0, 0
			continue
		case '\\':
			if !s.continuation() {
				s.col, s.alt = col, alt
				return true
			}
			if continued == 0 {
				continued = col
			}
			continue
		default:
			s.col, s.alt = col, alt
			if continued > 0 {
				s.col, s.alt = continued, continued
			}
			return true
		}
		s.at++
	}
	return false
}

// more reads a token or what is between tokens; it returns false at the end of the logical line.
func (s *scanner) more() bool {
	if top := s.top(); top == 'f' || top == ':' {
		s.text()
		return true
	}
	if s.at >= len(s.src) {
		s.bad = s.bad || len(s.frames) > 0
		return false
	}
	c := s.src[s.at]
	switch {
	case c == ' ' || c == '\t' || c == '\f':
		s.at++
	case c == '\n' || c == '\r':
		s.newline()
		return len(s.frames) > 0 && !s.definitionAhead()
	case c == '#':
		s.comment()
	case c == '\\':
		if !s.continuation() {
			s.bad = true
			s.at++
		}
	case c == '"' || c == '\'':
		s.quoted(s.at, s.at)
	case classes[c]&isDigit != 0 || c == '.' && s.classAt(1)&isDigit != 0:
		s.number()
	case classes[c]&isWord != 0:
		s.word()
	default:
		s.operator()
	}
	return true
}

// definitionAhead reports whether the line begins with def or class: the bracket that is open was
// never closed.
func (s *scanner) definitionAhead() bool {
	at := s.at
	for at < len(s.src) && (s.src[at] == ' ' || s.src[at] == '\t') {
		at++
	}
	rest := s.src[at:]
	if !bytes.HasPrefix(rest, []byte("def ")) && !bytes.HasPrefix(rest, []byte("class ")) {
		return false
	}
	s.bad = true
	return true
}

func (s *scanner) top() byte {
	if len(s.frames) == 0 {
		return 0
	}
	return s.frames[len(s.frames)-1].kind
}

func (s *scanner) byteAt(ahead int) byte {
	if s.at+ahead < len(s.src) {
		return s.src[s.at+ahead]
	}
	return 0
}

func (s *scanner) classAt(ahead int) uint8 { return classes[s.byteAt(ahead)] }

func (s *scanner) emit(k kind, from int) {
	s.tokens = append(s.tokens, token{kind: k, line: s.line, end: s.line, from: int32(from), to: int32(s.at)})
}

func (s *scanner) comment() {
	for s.at < len(s.src) && s.src[s.at] != '\n' && s.src[s.at] != '\r' {
		s.at++
	}
}

// newline skips the line end at which the scanner is.
func (s *scanner) newline() {
	if s.src[s.at] == '\r' && s.byteAt(1) == '\n' {
		s.at++
	}
	s.at++
	s.line++
}

// continuation skips a backslash at the end of a line.
func (s *scanner) continuation() bool {
	if next := s.byteAt(1); next != '\n' && next != '\r' {
		return false
	}
	s.at++
	s.newline()
	s.bad = s.bad || s.at >= len(s.src)
	return true
}

// word reads a name, a keyword or a string with a prefix.
func (s *scanner) word() {
	from := s.at
	high := byte(0)
	for s.at < len(s.src) && classes[s.src[s.at]]&isWord != 0 {
		high |= s.src[s.at]
		s.at++
	}
	word := s.src[from:s.at]
	if c := s.byteAt(0); (c == '"' || c == '\'') && s.isPrefix(word) {
		s.quoted(from, s.at)
		return
	}
	k := wordKind(word)
	if high >= 0x80 && !isIdentifier(word) {
		s.bad = true
	}
	s.py3 = s.py3 || high >= 0x80
	s.imports = s.imports || k == kImport
	s.emit(k, from)
}
