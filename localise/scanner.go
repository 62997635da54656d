package localise

import (
	"regexp"
	"strings"

	"relabel/codeindex"
)

// codeLines tells for each line of a file, as git counts them, whether it has more than comments and
// white space. Documentation in strings, as in Python, is no comment; documentation in comments, as in
// Go, is one.
func codeLines(language codeindex.Language, content string) []bool {
	known, ok := syntaxes[language]
	s := &scanner{content: content, rest: content, syntax: known, code: make([]bool, strings.Count(content, "\n")+1)}
	for s.rest != "" {
		switch {
		case s.white(), ok && s.comment(), ok && s.string():
		default:
			s.take(1)
		}
	}
	return s.code
}

// scanner passes through a file from its beginning.
type scanner struct {
	content string
	rest    string // the content that is not scanned yet
	line    int
	code    []bool
	syntax  syntax
}

// take passes bytes of code. A line is code if one of them is not white space.
func (s *scanner) take(n int) {
	n = min(n, len(s.rest))
	for _, c := range []byte(s.rest[:n]) {
		switch c {
		case '\n':
			s.line++
		case ' ', '\t', '\r', '\f', '\v':
		default:
			s.code[s.line] = true
		}
	}
	s.rest = s.rest[n:]
}

// skip passes bytes of a comment.
func (s *scanner) skip(n int) {
	s.line += strings.Count(s.rest[:n], "\n")
	s.rest = s.rest[n:]
}

// white passes white space and a byte order mark.
func (s *scanner) white() bool {
	n := len(s.rest) - len(strings.TrimLeft(s.rest, " \t\r\n\f\v\uFEFF"))
	s.skip(n)
	return n > 0
}

// comment passes a comment.
func (s *scanner) comment() bool {
	for _, special := range s.syntax.special {
		if special(s) {
			return true
		}
	}
	for _, begin := range s.syntax.comments {
		if strings.HasPrefix(s.rest, begin) {
			s.skip(lineEnd(s.rest))
			return true
		}
	}
	return s.blockComment()
}

// lineEnd is where the first line ends.
func lineEnd(text string) int {
	if n := strings.IndexByte(text, '\n'); n >= 0 {
		return n
	}
	return len(text)
}

func (s *scanner) blockComment() bool {
	begin, end := s.syntax.block[0], s.syntax.block[1]
	if begin == "" || !strings.HasPrefix(s.rest, begin) {
		return false
	}
	n, depth := len(begin), 1
	for depth > 0 && n < len(s.rest) {
		switch {
		case strings.HasPrefix(s.rest[n:], end):
			n, depth = n+len(end), depth-1
		case s.syntax.nested && strings.HasPrefix(s.rest[n:], begin):
			n, depth = n+len(begin), depth+1
		default:
			n++
		}
	}
	s.skip(n)
	return true
}

// string passes a string.
func (s *scanner) string() bool {
	for _, q := range s.syntax.quotes {
		if strings.HasPrefix(s.rest, q.open) {
			s.take(q.length(s.rest))
			return true
		}
	}
	return false
}

// length is that of the string at the beginning of a text.
func (q quote) length(text string) int {
	n := len(q.open)
	for n < len(text) {
		switch {
		case strings.HasPrefix(text[n:], q.end):
			return n + len(q.end)
		case text[n] == '\\' && !q.raw:
			n += 2
			if strings.HasPrefix(text[n-1:], "\r\n") {
				n++
			}
		case text[n] == '\n' && !q.lines:
			return n
		default:
			n++
		}
	}
	return len(text)
}

// template passes a template of JavaScript.
func (s *scanner) template() bool {
	if s.rest[0] != '`' {
		return false
	}
	s.take(templateLength(s.rest, 0))
	return true
}

// deepest bounds templates within templates.
const deepest = 50

// templateLength is that of the template at the beginning of a text, with the code in it.
func templateLength(text string, depth int) int {
	n, braces := 1, 0
	for n < len(text) {
		c := text[n]
		switch {
		case c == '\\':
			n++
		case c == '`' && braces == 0:
			return n + 1
		case c == '`' && depth < deepest:
			n += templateLength(text[n:], depth+1) - 1
		case strings.HasPrefix(text[n:], "${") && braces == 0:
			braces = 1
			n++
		case c == '{' && braces > 0:
			braces++
		case c == '}' && braces > 0:
			braces--
		case (c == '"' || c == '\'') && braces > 0:
			n += quote{open: string(c), end: string(c)}.length(text[n:]) - 1
		}
		n++
	}
	return len(text)
}

// scriptRegexp is a regular expression of JavaScript.
var scriptRegexp = regexp.MustCompile(`^/(?:[^/\\\[\n*]|\\.|\[(?:[^\]\\\n]|\\.)*\])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])*/`)

// beforeRegexp matches what a regular expression may follow. After a name or a bracket a slash divides.
var beforeRegexp = regexp.MustCompile(`(?:^|[(,=:\[!&|?{;+*%~^>\n-]|\b(?:return|typeof|case|in|of|do|else|void|delete|throw|await|yield))[ \t]*$`)

// regexp passes a regular expression of JavaScript.
func (s *scanner) regexp() bool {
	if s.rest[0] != '/' {
		return false
	}
	at := len(s.content) - len(s.rest)
	if !beforeRegexp.MatchString(s.content[max(0, at-80):at]) {
		return false
	}
	n := len(scriptRegexp.FindString(s.rest[:lineEnd(s.rest)]))
	if n > 0 {
		s.take(n)
	}
	return n > 0
}

var rawBegin = regexp.MustCompile(`^R"([^ ()\\\t\n]{0,16})\(`)

// cppRaw passes a raw string of C++.
func (s *scanner) cppRaw() bool { return s.raw(rawBegin, ")", `"`) }

var rustRawBegin = regexp.MustCompile(`^b?r(#{0,255})"`)

// rustRaw passes a raw string of Rust.
func (s *scanner) rustRaw() bool { return s.raw(rustRawBegin, `"`, "") }

// raw passes a string that ends with what stands in the group of its beginning, between two texts.
func (s *scanner) raw(begin *regexp.Regexp, before, after string) bool {
	if c := s.rest[0]; c != 'R' && c != 'r' && c != 'b' {
		return false
	}
	m := begin.FindStringSubmatch(s.rest[:min(len(s.rest), 300)])
	if m == nil {
		return false
	}
	s.take(quote{open: m[0], end: before + m[1] + after, lines: true, raw: true}.length(s.rest))
	return true
}

var rustCharacter = regexp.MustCompile(`^'(?:\\[^\n]*?|[^'\\\n])'`)

// rustChar passes a character of Rust, or the mark of a lifetime.
func (s *scanner) rustChar() bool {
	if s.rest[0] != '\'' {
		return false
	}
	s.take(max(1, len(rustCharacter.FindString(s.rest[:min(len(s.rest), 20)]))))
	return true
}

// rubyBlock passes a comment of Ruby from =begin to =end.
func (s *scanner) rubyBlock() bool {
	if !strings.HasPrefix(s.rest, "=begin") || s.code[s.line] {
		return false
	}
	n := strings.Index(s.rest, "\n=end")
	if n < 0 {
		s.skip(len(s.rest))
		return true
	}
	s.skip(n + 1 + lineEnd(s.rest[n+1:]))
	return true
}

// phpAttribute passes the beginning of an attribute of PHP, which is no comment.
func (s *scanner) phpAttribute() bool {
	if !strings.HasPrefix(s.rest, "#[") {
		return false
	}
	s.take(2)
	return true
}

var heredocBegin = regexp.MustCompile(`^<<(?:<[ \t]*|[~-]?)["'` + "`" + `]?([A-Z_][A-Za-z0-9_]*)["'` + "`" + `]?`)

// heredoc passes a here document of Ruby or PHP with the rest of the line that begins it.
func (s *scanner) heredoc() bool {
	if s.rest[0] != '<' {
		return false
	}
	line := s.rest[:lineEnd(s.rest)]
	m := heredocBegin.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	n := len(line)
	for n < len(s.rest) {
		n++
		end := n + lineEnd(s.rest[n:])
		last := strings.TrimLeft(s.rest[n:end], " \t")
		n = end
		if strings.HasPrefix(last, m[1]) && strings.Trim(last[len(m[1]):], ";,) \t\r.") == "" {
			break
		}
	}
	s.take(n)
	return true
}
