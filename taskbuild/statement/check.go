package statement

import (
	"encoding/base64"
	"fmt"
	"html"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"relabel/gitdiff"
	"relabel/taskbuild"
)

const (
	minStatement = 60    // characters
	maxStatement = 6_000 // characters
	minQuote     = 8     // characters without white space that a quoted line with punctuation has at least
	minWords     = 20    // and one that could be prose
	minName      = 4     // characters of a name that only the fix has
)

// fault is why a statement cannot be used; says is "" if it can.
type fault struct {
	reason taskbuild.Reason
	says   string
}

// check finds in statements what they must not have.
type check struct {
	added     []string        // lines of the fix that the code before it does not have
	names     map[string]bool // that only the fix has
	files     []string        // that the fix changes
	hideFiles bool
}

// word matches names of programming languages.
var word = regexp.MustCompile(`[\p{L}_$][\p{L}\p{N}_$]*`)

func newCheck(r taskbuild.StatementRequest, hideFiles bool) check {
	c := check{names: map[string]bool{}, hideFiles: hideFiles}
	files, _ := gitdiff.Parse(r.Patch) // the builder applies the patch: it can be parsed
	known := words(r.TestPatch + "\n" + r.Output + "\n" + strings.Join(r.Failing, "\n"))
	old := map[string]bool{}
	var added []string
	for _, f := range files {
		for _, name := range []string{f.Old, f.New} {
			if name != "" {
				c.files = append(c.files, name)
			}
		}
		for _, h := range f.Hunks {
			for _, l := range h.Lines {
				if l.Op == gitdiff.Added {
					added = append(added, l.Text)
					continue
				}
				old[squeezed(l.Text)] = true
				for _, w := range word.FindAllString(l.Text, -1) {
					known[w] = true
				}
			}
		}
	}
	for _, line := range added {
		if s := squeezed(line); !old[s] && utf8.RuneCountInString(s) >= shortestQuote(s) {
			c.added = append(c.added, line)
		}
		for _, w := range word.FindAllString(line, -1) {
			if !known[w] && utf8.RuneCountInString(w) >= minName && distinct(w) {
				c.names[w] = true
			}
		}
	}
	return c
}

// marks match what a diff has.
var marks = regexp.MustCompile("(?m)^(diff --git |@@ -\\d|\\+\\+\\+ |--- a/|Index: |```diff)")

// of returns the first fault of a statement.
func (c check) of(text string) fault {
	leak := func(says string, args ...any) fault { return fault{taskbuild.ReasonLeak, fmt.Sprintf(says, args...)} }
	length := utf8.RuneCountInString(text)
	switch {
	case text == "":
		return fault{taskbuild.ReasonNoStatement, "it is empty"}
	case length < minStatement:
		return fault{taskbuild.ReasonNoStatement, fmt.Sprintf("it has only %d characters", length)}
	case length > maxStatement:
		return fault{taskbuild.ReasonNoStatement, fmt.Sprintf("it has %d characters, more than %d", length, maxStatement)}
	}
	if mark := marks.FindString(text); mark != "" {
		return leak("it contains a part of a diff (%q)", mark)
	}
	text = plain(text)
	if decoded := decoded(text); decoded != "" {
		text += "\n" + decoded
	}
	flat := squeezed(text)
	for _, line := range c.added {
		if strings.Contains(flat, squeezed(line)) {
			return leak("it quotes a line of the change (%q)", strings.TrimSpace(line))
		}
	}
	for _, w := range word.FindAllString(text, -1) {
		if c.names[w] {
			return leak("it uses a name that only the change has (%q)", w)
		}
	}
	return c.place(text)
}

// escapes matches the escapes of Markdown.
var escapes = regexp.MustCompile(`\\([[:punct:]])`)

// plain returns a text as a reader sees it: without escapes of HTML and Markdown, invisible characters, and other forms of
// the same letters and quotation marks.
func plain(text string) string {
	text = norm.NFKC.String(html.UnescapeString(text))
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
	text = strings.NewReplacer("‘", "'", "’", "'", "“", `"`, "”", `"`).Replace(text)
	return escapes.ReplaceAllString(text, "$1")
}

// encoded matches words that may be text in base64.
var encoded = regexp.MustCompile(`[A-Za-z0-9+/_-]{16,}={0,2}`)

// decoded returns the texts in base64 that a text contains.
func decoded(text string) string {
	var found []string
	for _, w := range encoded.FindAllString(text, -1) {
		w = strings.NewReplacer("-", "+", "_", "/", "=", "").Replace(w)
		if inner, err := base64.RawStdEncoding.DecodeString(w); err == nil && utf8.Valid(inner) {
			found = append(found, string(inner))
		}
	}
	return strings.Join(found, "\n")
}

// place finds where the statement says that the cause is.
func (c check) place(text string) fault {
	for _, name := range c.files {
		for _, form := range []string{name, path.Base(name)} {
			line := regexp.MustCompile(`(^|[^\w/.-])` + regexp.QuoteMeta(form) + `["'\x60]?(:\d|[ ,(]+(at |on |in )?lines? \d)`)
			if line.MatchString(text) {
				return fault{taskbuild.ReasonLeak, fmt.Sprintf("it names a line of the file %s", name)}
			}
			if c.hideFiles && regexp.MustCompile(`(^|[^\w/.-])`+regexp.QuoteMeta(form)+`($|[^\w/-])`).MatchString(text) {
				return fault{taskbuild.ReasonLeak, fmt.Sprintf("it names the file %s", name)}
			}
		}
	}
	return fault{}
}

// words returns all names in a text.
func words(text string) map[string]bool {
	all := map[string]bool{}
	for _, w := range word.FindAllString(text, -1) {
		all[w] = true
	}
	return all
}

// distinct reports whether a name cannot be a word of a language: it has _, $, digits or capitals inside.
func distinct(name string) bool {
	inner := []rune(name)[1:]
	for _, r := range inner {
		if r == '_' || r == '$' || unicode.IsDigit(r) || unicode.IsUpper(r) {
			return strings.ToUpper(name) != name || strings.Contains(name, "_")
		}
	}
	return false
}

// shortestQuote is how many characters a line of the fix has at least, if a statement that contains it quotes
// it. A line without operators and brackets can be prose: return nothing.
func shortestQuote(line string) int {
	for _, r := range line {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_.,:;'\"", r) {
			return minQuote
		}
	}
	return minWords
}

// squeezed removes white space.
func squeezed(text string) string { return strings.Join(strings.Fields(text), "") }
