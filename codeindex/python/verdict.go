package python

import (
	"bytes"

	"relabel/codeindex"
)

// A verdict is what was seen of a source.
type verdict struct {
	bad bool // what neither Python 3 nor Python 2 has
	py2 bool // what Python 2 has and Python 3 does not
	py3 bool // what Python 3 has and Python 2 does not
}

func (v *verdict) add(other verdict) {
	v.bad = v.bad || other.bad
	v.py2 = v.py2 || other.py2
	v.py3 = v.py3 || other.py3
}

func (v verdict) problem() codeindex.Problem {
	switch {
	case v.bad, v.py2 && v.py3:
		return codeindex.Syntax
	case v.py2:
		return codeindex.Python2
	}
	return ""
}

// checkBytes looks for characters that are not ASCII, which only Python 2 takes.
func (v *verdict) checkBytes(body []byte) {
	v.py2 = v.py2 || !isASCII(body)
}

// checkEscapes looks for incomplete escapes of a string. A string without prefix has bytes in Python
// 2, where \u and \N mean nothing.
func (v *verdict) checkEscapes(body []byte, k kind, prefixed bool) {
	for {
		at := bytes.IndexByte(body, '\\')
		if at < 0 || at+1 >= len(body) {
			return
		}
		escape := body[at+1]
		body = body[at+2:]
		if completeEscape(escape, body, k) {
			continue
		}
		if escape == 'x' || prefixed {
			v.bad = true
		} else {
			v.py2 = true
		}
	}
}

// completeEscape reports whether the escape has its digits, or its name, in what follows.
func completeEscape(escape byte, rest []byte, k kind) bool {
	switch {
	case escape == 'x':
		return hasHex(rest, 2)
	case k == kBytes:
		return true
	case escape == 'u':
		return hasHex(rest, 4)
	case escape == 'U':
		return hasHex(rest, 8) && (string(rest[:3]) == "000" || string(rest[:4]) == "0010")
	case escape == 'N':
		return len(rest) > 2 && rest[0] == '{' && rest[1] != '}' && bytes.IndexByte(rest[:min(len(rest), longestName)], '}') > 0
	}
	return true
}

// longestName is more than the longest name of a character has.
const longestName = 128

func hasHex(text []byte, digits int) bool {
	if len(text) < digits {
		return false
	}
	for _, c := range text[:digits] {
		if classes[c]&isHex == 0 {
			return false
		}
	}
	return true
}
