package python

import "bytes"

// operator reads an operator.
func (s *scanner) operator() {
	from := s.at
	c := s.src[from]
	s.at++
	switch c {
	case '(', '[', '{':
		s.frames = append(s.frames, frame{kind: c})
		s.bad = s.bad || len(s.frames) > maxFrames
	case ')', ']', '}':
		s.closeBracket(c, from)
		return
	case ',', ';', '~':
	case '`':
		s.py2 = true
	case ':':
		s.colon(from)
		return
	case '.':
		if s.byteAt(0) == '.' && s.byteAt(1) == '.' {
			s.at += 2
			s.emit(kEllipsis, from)
			return
		}
	case '!':
		if s.byteAt(0) == '=' {
			s.at++
			s.emit(kCompare, from)
			return
		}
		s.bad = s.bad || s.top() != 'F'
	case '<', '>', '=', '+', '-', '*', '/', '%', '@', '&', '|', '^':
		s.emit(s.long(c), from)
		return
	default:
		s.bad = true
		return
	}
	s.emit(kind(c), from)
}

// long reads the rest of an operator that begins with c and may have up to three characters.
func (s *scanner) long(c byte) kind {
	next := s.byteAt(0)
	k := kind(c)
	switch {
	case c == '=' && next == '=', (c == '<' || c == '>') && next == '=':
		s.at++
		return kCompare
	case c == '=':
		return k
	case c == '-' && next == '>':
		s.at++
		return kArrow
	case c == '<' && next == '>':
		s.at++
		s.py2 = true
		return kCompare
	case next == c && (c == '<' || c == '>'):
		s.at++
		k = kShift
	case next == c && c == '*':
		s.at++
		k = kPower
	case next == c && c == '/':
		s.at++
	case c == '<' || c == '>':
		return kCompare
	}
	if s.byteAt(0) == '=' {
		s.at++
		return kAugmented
	}
	return k
}

// colon reads a colon; in a replacement field it begins the format.
func (s *scanner) colon(from int) {
	if s.top() == 'F' {
		field := s.frames[len(s.frames)-1]
		field.kind = ':'
		s.frames = append(s.frames, field)
		s.emit(':', from)
		return
	}
	if s.byteAt(0) == '=' {
		s.at++
		s.py3 = true
		s.emit(kWalrus, from)
		return
	}
	s.emit(':', from)
}

var opened = map[byte]byte{')': '(', ']': '[', '}': '{'}

// closeBracket reads a closing bracket.
func (s *scanner) closeBracket(c byte, from int) {
	k := kind(c)
	top := s.top()
	switch {
	case c == '}' && top == 'F':
		k = kFieldEnd
		s.frames = s.frames[:len(s.frames)-1]
	case top == opened[c]:
		s.frames = s.frames[:len(s.frames)-1]
	default:
		s.bad = true
	}
	s.emit(k, from)
}

// number reads a number.
func (s *scanner) number() {
	from := s.at
	switch lower := s.byteAt(1) | 0x20; {
	case s.src[from] == '0' && lower == 'x':
		s.at += 2
		s.digits(isHex, 'f')
	case s.src[from] == '0' && (lower == 'o' || lower == 'b'):
		s.at += 2
		highest := byte('7')
		if lower == 'b' {
			highest = '1'
		}
		s.digits(isDigit, highest)
	default:
		s.decimal(from)
	}
	if s.byteAt(0)|0x20 == 'l' {
		s.py2 = true
		s.at++
	}
	if s.classAt(0)&isWord != 0 && !s.keywordAhead() {
		s.bad = true
	}
	s.emit(kNumber, from)
}

// digits skips digits of the class up to the highest, with single underscores between them.
func (s *scanner) digits(class uint8, highest byte) {
	start := s.at
	for s.classAt(0)&class != 0 || s.byteAt(0) == '_' && s.classAt(1)&class != 0 {
		c := s.src[s.at]
		s.bad = s.bad || c > highest && c != '_' && class == isDigit
		s.at++
	}
	s.bad = s.bad || s.at == start
}

func (s *scanner) decimal(from int) {
	if s.byteAt(0) != '.' {
		s.digits(isDigit, '9')
	}
	whole := true
	if s.byteAt(0) == '.' {
		whole = false
		s.at++
		if s.classAt(0)&isDigit != 0 {
			s.digits(isDigit, '9')
		}
	}
	if s.byteAt(0)|0x20 == 'e' {
		sign := 0
		if next := s.byteAt(1); next == '+' || next == '-' {
			sign = 1
		}
		if s.classAt(1+sign)&isDigit != 0 {
			whole = false
			s.at += 1 + sign
			s.digits(isDigit, '9')
		}
	}
	if s.byteAt(0)|0x20 == 'j' {
		whole = false
		s.at++
	}
	text := s.src[from:s.at]
	if whole && text[0] == '0' && len(bytes.Trim(text, "0_")) > 0 {
		s.py2 = true
		s.bad = s.bad || bytes.ContainsAny(text, "89_")
	}
}

// keywordAhead reports whether a keyword follows that may follow a number at once.
func (s *scanner) keywordAhead() bool {
	end := s.at
	for end < min(s.at+len("else"), len(s.src)) && classes[s.src[end]]&isWord != 0 {
		end++
	}
	rest := string(s.src[s.at:end])
	for _, word := range []string{"and", "else", "for", "if", "in", "is", "not", "or"} {
		if len(rest) >= len(word) && rest[:len(word)] == word {
			return true
		}
	}
	return false
}
