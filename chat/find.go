package chat

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"relabel"
)

// Finder searches texts for one text, ignoring case. It counts all matches and keeps the first ones. It is
// not safe for concurrent use.
type Finder struct {
	Matches int
	Places  int             // turns and other texts with a match
	Kept    []relabel.Match // in the order of the texts

	most, mostOfTurn int
	words            []byte // in lower case
	wide             bool   // they contain more than ASCII
	plain            []byte // their longest part without escapes in any JSON
	buffer           []byte

	t, ofTurn, nth int
	executor       relabel.Role
	part           string
}

// NewFinder searches for words. It keeps most matches, at most mostOfTurn of each turn or other text.
func NewFinder(words string, most, mostOfTurn int) *Finder {
	f := &Finder{most: most, mostOfTurn: mostOfTurn, wide: strings.ContainsFunc(words, func(r rune) bool { return r >= utf8.RuneSelf })}
	f.words = foldInto(nil, words, f.wide)
	for _, part := range bytes.FieldsFunc(f.words, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\/`, r) }) {
		if len(part) > len(f.plain) {
			f.plain = part
		}
	}
	return f
}

// Forget removes all matches.
func (f *Finder) Forget() { f.Matches, f.Places, f.Kept, f.t, f.ofTurn = 0, 0, nil, 0, 0 }

// Turn searches a whole turn.
func (f *Finder) Turn(turn relabel.Turn) {
	f.Begin(turn.T, turn.Executor)
	f.Action("action", turn.Action.Message)
	if turn.Label != nil && turn.Executor == relabel.Student {
		f.Action("label", turn.Label.Message)
		f.In("label", "label, why it is missing", turn.Label.Reason)
	}
	for _, o := range turn.Others {
		f.Action("other", o.Message)
	}
	for _, o := range turn.Observations {
		f.In("observation", "observation", o.Content)
	}
}

// Begin sets the turn of the following texts; 0: texts outside of turns.
func (f *Finder) Begin(t int, executor relabel.Role) {
	f.t, f.executor, f.ofTurn, f.nth, f.part = t, executor, 0, 0, ""
}

// ofParts is the prefix of parts of actions that were not executed.
var ofParts = map[string]string{"label": "label, ", "other": "another teacher, "}

// Action searches an action, in reading order.
func (f *Finder) Action(part string, m relabel.Message) {
	of := ofParts[part]
	f.In(part, of+"thought", m.ReasoningContent)
	f.In(part, of+"thought", m.Content)
	for _, c := range m.ToolCalls {
		f.In(part, of+"call", c.Name)
		arguments, ok := ReadArguments(c.Arguments)
		if !ok {
			f.In(part, of+"arguments", c.Arguments)
		}
		for _, a := range arguments {
			f.In(part, of+a.Name, a.Text())
		}
	}
}

// In searches a text of a turn's part; "": of no part.
func (f *Finder) In(part, place, text string) { lookIn(f, part, place, text) }

// InBytes is In; the text may change once it returns.
func (f *Finder) InBytes(part, place string, text []byte) { lookIn(f, part, place, text) }

// Other searches a text outside of turns.
func (f *Finder) Other(place, text string) {
	f.Begin(0, "")
	f.In("", place, text)
}

// MayBeIn reports whether a message in JSON may contain the words in one of its texts; false is certain.
// It is much faster than decoding the message.
func (f *Finder) MayBeIn(written []byte) bool {
	if len(f.plain) == 0 {
		return true
	}
	f.buffer = foldInto(f.buffer[:0], written, false)
	// Plain text may still be escaped, or be in several parts of a text.
	return bytes.Contains(f.buffer, f.plain) || bytes.Contains(written, []byte(`\u00`)) || bytes.Contains(written, []byte(`"text"`))
}

func lookIn[T string | []byte](f *Finder, part, place string, text T) {
	if part != f.part {
		f.part, f.nth = part, 0
	}
	if len(text) < len(f.words) || len(f.words) == 0 {
		return
	}
	f.buffer = foldInto(f.buffer[:0], text, f.wide)
	for from := 0; ; f.nth++ {
		i := bytes.Index(f.buffer[from:], f.words)
		if i < 0 {
			return
		}
		at := from + i
		from = at + len(f.words)
		f.Matches++
		if f.ofTurn < f.mostOfTurn && len(f.Kept) < f.most {
			keep(f, place, text, at)
		}
		if f.ofTurn++; f.ofTurn == 1 {
			f.Places++
		}
	}
}

// Context to keep around a match, in bytes.
const (
	keptBefore = 60
	keptAfter  = 100
)

func keep[T string | []byte](f *Finder, place string, text T, at int) {
	end := at + len(f.words)
	from, to := max(0, at-keptBefore), min(len(text), end+keptAfter)
	for from > 0 && from < at && !utf8.RuneStart(text[from]) {
		from++
	}
	for to < len(text) && to > end && !utf8.RuneStart(text[to]) {
		to--
	}
	f.Kept = append(f.Kept, relabel.Match{T: f.t, Executor: f.executor, Place: place, Part: f.part, Nth: f.nth,
		Before: string(text[from:at]), Text: string(text[at:end]), After: string(text[end:to])})
}

// lower has the bytes of ASCII in lower case, and the others unchanged.
var lower = func() (t [256]byte) {
	for c := range t {
		t[c] = byte(c)
		if 'A' <= c && c <= 'Z' {
			t[c] += 'a' - 'A'
		}
	}
	return t
}()

// foldInto appends s in lower case with the same length: it does not change a letter whose lower case has
// another length, nor, unless wide, letters beyond ASCII.
func foldInto[T string | []byte](dst []byte, s T, wide bool) []byte {
	n := len(dst)
	dst = append(dst, s...)
	folded := dst[n:]
	for i, c := range folded {
		folded[i] = lower[c]
	}
	if !wide {
		return dst
	}
	for i := 0; i < len(folded); i++ {
		if folded[i] >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(folded[i:])
			if low := unicode.ToLower(r); low != r && utf8.RuneLen(low) == size {
				utf8.EncodeRune(folded[i:], low)
			}
			i += size - 1
		}
	}
	return dst
}
