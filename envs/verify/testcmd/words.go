package testcmd

import (
	"slices"
	"strings"
)

// Word is a word of a shell command.
type Word struct {
	Text       string // without its quotes
	start, end int    // its place in the command
	Command    int    // the number of its simple command
}

// Words splits a command into the words of its simple commands. It reads quotes, escapes, comments
// and redirections, but no here-documents. The run of the gold patch detects errors.
func Words(command string) []Word {
	s := shellReader{text: command}
	for s.at < len(command) {
		s.step()
	}
	s.finish()
	return s.words
}

// shellReader reads a command.
type shellReader struct {
	text    string
	at      int
	words   []Word
	current []byte
	start   int
	inside  bool // a word has begun
	command int
}

func (s *shellReader) step() {
	c := s.text[s.at]
	switch {
	case c == '\\' && s.at+1 < len(s.text):
		s.escape()
	case c == '\'' || c == '"':
		s.quoted(c)
	case c == '#' && !s.inside:
		s.comment()
	case c == ' ' || c == '\t':
		s.finish()
		s.at++
	case c == '&' && s.redirects():
		s.take(c)
	case strings.IndexByte(";&|\n()", c) >= 0:
		s.finish()
		s.command++
		s.at++
	case c == '<' || c == '>':
		s.redirection(c)
	default:
		s.take(c)
	}
}

// take adds a byte to the word.
func (s *shellReader) take(c byte) {
	s.begin()
	s.current = append(s.current, c)
	s.at++
}

// begin begins a word, unless one has begun.
func (s *shellReader) begin() {
	if !s.inside {
		s.inside, s.start = true, s.at
	}
}

// escape reads a backslash and the next character. Before a line end, it joins two lines.
func (s *shellReader) escape() {
	if next := s.text[s.at+1]; next == '\n' {
		s.finish()
	} else {
		s.begin()
		s.current = append(s.current, next)
	}
	s.at += 2
}

// quoted reads up to the closing quote.
func (s *shellReader) quoted(quote byte) {
	s.begin()
	for s.at++; s.at < len(s.text) && s.text[s.at] != quote; s.at++ {
		if quote == '"' && s.text[s.at] == '\\' && s.at+1 < len(s.text) {
			s.at++
		}
		s.current = append(s.current, s.text[s.at])
	}
	s.at = min(s.at+1, len(s.text))
}

func (s *shellReader) comment() {
	for s.at < len(s.text) && s.text[s.at] != '\n' {
		s.at++
	}
}

// redirects reports whether an ampersand belongs to a redirection such as 2>&1 or &>.
func (s *shellReader) redirects() bool {
	after := s.at+1 < len(s.text) && s.text[s.at+1] == '>'
	return after || (s.at > 0 && s.text[s.at-1] == '>')
}

// redirection reads < or > into a separate word, which is not an argument.
func (s *shellReader) redirection(c byte) {
	digits := strings.Trim(string(s.current), "0123456789&") == ""
	if s.inside && !digits {
		s.finish()
	}
	s.take(c)
}

func (s *shellReader) finish() {
	if s.inside {
		s.words = append(s.words, Word{Text: string(s.current), start: s.start, end: s.at, Command: s.command})
	}
	s.current, s.inside = nil, false
}

// Call is the only call of a test runner in a command.
type Call struct {
	command string
	name    string // of the runner, as in the command
	before  []Word // all words before the runner's name
	Args    []Word // its arguments
	end     int    // the end of the call in the command
	Alone   bool   // no simple command follows it, so its exit code is the command's
}

// FindCall finds the call of a runner. is reports whether a word is the runner's name. It returns
// false if there is no call or more than one.
func FindCall(command string, is func(words []Word, at int) bool) (Call, bool) {
	words := Words(command)
	var names []int
	for at := range words {
		if is(words, at) {
			names = append(names, at)
		}
	}
	if len(names) != 1 {
		return Call{}, false
	}
	found := names[0]
	call := Call{command: command, name: words[found].Text, before: words[:found], end: words[found].end, Alone: true}
	for _, w := range words[found+1:] {
		if w.Command != words[found].Command {
			call.Alone = false
			break
		}
		call.Args, call.end = append(call.Args, w), w.end
	}
	return call, true
}

// With returns the command with further arguments of the call.
func (c Call) With(args ...string) string {
	added := ""
	for _, a := range args {
		added += " " + Quote(a)
	}
	return c.command[:c.end] + added + c.command[c.end:]
}

// Folder is the folder of the last "cd" before the call, relative to the repository, otherwise ".".
func (c Call) Folder() string {
	for at := len(c.before) - 2; at >= 0; at-- {
		if c.before[at].Text == "cd" && c.before[at].Command == c.before[at+1].Command {
			return c.before[at+1].Text
		}
	}
	return "."
}

// Has reports whether the call has one of the options.
func (c Call) Has(options map[string]bool) bool {
	return slices.ContainsFunc(c.Args, func(w Word) bool {
		name, _, _ := strings.Cut(w.Text, "=")
		return options[name]
	})
}

// Names returns the arguments that are neither options nor numbers, such as that of --parallel.
func (c Call) Names() []string {
	var names []string
	for _, w := range c.Args {
		if !strings.HasPrefix(w.Text, "-") && strings.Trim(w.Text, "0123456789") != "" && !strings.ContainsAny(w.Text, "<>") {
			names = append(names, w.Text)
		}
	}
	return names
}

// Runs reports whether the call's program ends with a name.
func (c Call) Runs(program string) bool {
	end := c.end
	if len(c.Args) > 0 {
		end = c.Args[0].start
	}
	return strings.HasSuffix(strings.TrimRight(c.command[:end], ` '"`), program)
}
