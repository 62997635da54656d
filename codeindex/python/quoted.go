package python

import "bytes"

// isPrefix reports whether the word is the prefix of a string.
func (s *scanner) isPrefix(word []byte) bool {
	if len(word) > 2 {
		return false
	}
	switch string(bytes.ToLower(word)) {
	case "ur":
		s.py2 = true
		return true
	case "r", "u", "b", "br", "rb", "f", "fr", "rf", "t", "tr", "rt":
		return true
	}
	return false
}

// prefixed returns what a prefix says.
func prefixed(prefix []byte) (raw, bytesOnly, fields bool) {
	for _, c := range prefix {
		switch c | 0x20 {
		case 'r':
			raw = true
		case 'b':
			bytesOnly = true
		case 'f', 't':
			fields = true
		}
	}
	return raw, bytesOnly, fields
}

// quoted reads a string whose prefix begins at from and whose quote is at quote.
func (s *scanner) quoted(from, quote int) {
	raw, bytesOnly, fields := prefixed(s.src[from:quote])
	q := s.src[quote]
	s.at = quote
	triple := s.byteAt(1) == q && s.byteAt(2) == q
	s.at++
	if triple {
		s.at += 2
	}
	if fields {
		s.py3 = true
		s.emit(kTextStart, from)
		s.frames = append(s.frames, frame{kind: 'f', quote: q, triple: triple, raw: raw})
		return
	}
	line := s.line
	body := s.at
	escaped := s.closeQuote(q, triple)
	k := kString
	if bytesOnly {
		k = kBytes
		s.checkBytes(s.src[body:s.at])
	}
	if escaped && !raw {
		s.checkEscapes(s.src[body:s.at], k, quote > from)
	}
	s.emit(k, from)
	s.tokens[len(s.tokens)-1].line = line
}

// closeQuote goes to the end of a string and reports whether it has a backslash.
func (s *scanner) closeQuote(q byte, triple bool) (escaped bool) {
	for s.at < len(s.src) {
		c := s.src[s.at]
		switch {
		case classes[c]&isPlain != 0:
			s.at++
		case c == '\\':
			escaped = true
			s.escape()
		case c == '\n' || c == '\r':
			if !triple {
				s.bad = true
				return escaped
			}
			s.newline()
		case c == q && s.closes(q, triple):
			return escaped
		default:
			s.at++
		}
	}
	s.bad = true
	return escaped
}

// closes skips the quotes that end a string, if they do.
func (s *scanner) closes(q byte, triple bool) bool {
	if !triple {
		s.at++
		return true
	}
	if s.byteAt(1) != q || s.byteAt(2) != q {
		return false
	}
	s.at += 3
	return true
}

// escape skips a backslash of a string and what follows it.
func (s *scanner) escape() {
	s.at++
	switch s.byteAt(0) {
	case '\n', '\r':
		s.newline()
	default:
		s.at = min(s.at+1, len(s.src))
	}
}

// text reads the text of an f-string or of a format up to a field or its end.
func (s *scanner) text() {
	f := s.frames[len(s.frames)-1]
	for s.at < len(s.src) {
		c := s.src[s.at]
		switch {
		case classes[c]&isPlain != 0:
			s.at++
		case c == '\\':
			s.textEscape(f.raw)
		case (c == '\n' || c == '\r') && f.triple:
			s.newline()
		case c == '\n' || c == '\r':
			s.bad = true
			s.endText()
			return
		case c == f.quote && s.closes(f.quote, f.triple):
			s.bad = s.bad || f.kind == ':'
			s.endText()
			return
		case c == '{' && f.kind == 'f' && s.byteAt(1) == '{':
			s.at += 2
		case c == '{':
			s.at++
			s.emit(kFieldStart, s.at-1)
			s.frames = append(s.frames, frame{kind: 'F', quote: f.quote, triple: f.triple, raw: f.raw})
			return
		case c == '}' && f.kind == ':':
			s.frames = s.frames[:len(s.frames)-2]
			s.at++
			s.emit(kFieldEnd, s.at-1)
			return
		case c == '}' && s.byteAt(1) == '}':
			s.at += 2
		default:
			s.bad = s.bad || c == '}'
			s.at++
		}
	}
	s.bad = true
	s.endText()
}

// textEscape skips a backslash of an f-string. It does not escape braces, but those of \N{name}.
func (s *scanner) textEscape(raw bool) {
	next := s.byteAt(1)
	if next == '{' || next == '}' {
		s.at++
		return
	}
	s.escape()
	if raw || next != 'N' || s.byteAt(0) != '{' {
		return
	}
	for s.at < len(s.src) && classes[s.src[s.at]]&isWord != 0 || s.byteAt(0) == '{' || s.byteAt(0) == ' ' || s.byteAt(0) == '-' {
		s.at++
	}
	if s.byteAt(0) == '}' {
		s.at++
	}
}

// endText closes the f-string that is open innermost, with its fields.
func (s *scanner) endText() {
	for len(s.frames) > 0 {
		kind := s.top()
		s.frames = s.frames[:len(s.frames)-1]
		if kind == 'f' {
			break
		}
	}
	s.emit(kTextEnd, s.at)
}
