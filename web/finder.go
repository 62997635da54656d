package web

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"relabel"
)

// finder looks for one text in many.
type finder struct {
	words  []byte // folded
	wide   bool   // they are not all ASCII
	buffer []byte
	found  *foundView

	t, ofTurn, nth int
	link           string
}

func newFinder(words string, found *foundView) *finder {
	f := &finder{found: found, wide: strings.ContainsFunc(words, func(r rune) bool { return r >= utf8.RuneSelf })}
	f.words = f.fold(nil, words)
	return f
}

// begin says that what follows is of turn t, or of none (0).
func (f *finder) begin(t int, link string) {
	f.t, f.ofTurn, f.nth, f.link = t, 0, 0, link
	if t > 0 {
		f.link += fmt.Sprintf("#t%d", t)
	}
}

// turn looks into all of a turn.
func (f *finder) turn(turn relabel.Turn, link string) {
	f.begin(turn.T, link)
	f.action("action", "", turn.Action.Message)
	if turn.Label != nil && turn.Executor == relabel.Student {
		f.nth = 0
		f.action("label", "label, ", turn.Label.Message)
		f.in("label", "label, why it is missing", turn.Label.Reason)
	}
	f.nth = 0
	for _, o := range turn.Others {
		f.action("other", "another teacher, ", o.Message)
	}
	f.nth = 0
	for _, o := range turn.Observations {
		f.in("observation", "observation", o.Content)
	}
}

// other looks into a text that belongs to none of the turns.
func (f *finder) other(place, link, text string) {
	f.begin(0, link)
	f.in("", place, text)
}

// action looks into an action, in the order in which a card shows it.
func (f *finder) action(part, of string, m relabel.Message) {
	f.in(part, of+"thought", m.ReasoningContent)
	f.in(part, of+"thought", m.Content)
	for _, c := range m.ToolCalls {
		f.in(part, of+"call", c.Name)
		fields, ok := fieldsOf(c.Arguments)
		if !ok {
			f.in(part, of+"arguments", c.Arguments)
		}
		for _, field := range fields {
			f.in(part, of+field.name, textOf(field.value))
		}
	}
}

// in looks into one text.
func (f *finder) in(part, place, text string) {
	if len(text) < len(f.words) {
		return
	}
	f.buffer = f.fold(f.buffer[:0], text)
	n := 0
	for from := 0; ; n++ {
		i := bytes.Index(f.buffer[from:], f.words)
		if i < 0 {
			break
		}
		at := from + i
		from = at + len(f.words)
		if f.ofTurn < mostOfTurn && len(f.found.Hits) < mostListed {
			f.list(part, place, text, at, f.nth+n)
		}
		if f.ofTurn++; f.ofTurn == 1 {
			f.found.Places++
		}
	}
	f.nth += n
	f.found.Total += n
}

// list keeps a match with its surroundings.
func (f *finder) list(part, place, text string, at, nth int) {
	end := at + len(f.words)
	from, to := max(0, at-60), min(len(text), end+100)
	for from > 0 && from < at && !utf8.RuneStart(text[from]) {
		from++
	}
	for to < len(text) && to > end && !utf8.RuneStart(text[to]) {
		to--
	}
	f.found.Hits = append(f.found.Hits, hit{T: f.t, Place: place, Part: part, Nth: nth, Link: f.link,
		Before: text[from:at], Match: text[at:end], After: text[end:to]})
}

// fold appends s in lower case, each byte where it was: a letter that is of another length
// in lower case stays as it is.
func (f *finder) fold(dst []byte, s string) []byte {
	n := len(dst)
	dst = append(dst, s...)
	folded := dst[n:]
	for i := 0; i < len(folded); i++ {
		c := folded[i]
		if 'A' <= c && c <= 'Z' {
			folded[i] = c + 'a' - 'A'
		} else if c >= utf8.RuneSelf && f.wide {
			r, size := utf8.DecodeRune(folded[i:])
			if low := unicode.ToLower(r); low != r && utf8.RuneLen(low) == size {
				utf8.EncodeRune(folded[i:], low)
			}
			i += size - 1
		}
	}
	return dst
}
