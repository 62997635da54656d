package tokenizer

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// Encode appends the ids of text to dst. They are those of the reference for encode(text,
// add_special_tokens=False): no tokens are added, and added tokens are recognized in the text.
//
// plain lists spans of text in ascending order, without overlap. Special tokens that overlap
// them are not recognized but encoded as ordinary text; other added tokens still match there.
//
// Each byte of invalid UTF-8 counts as U+FFFD.
func (t *Tokenizer) Encode(dst []int32, text string, plain ...Span) []int32 {
	if !utf8.ValidString(text) {
		text, plain = validUTF8(text, plain)
	}
	e := &encoding{t: t, plain: plain, splitting: splitting{stages: t.stages, model: t.model, ids: dst}}
	e.split(text, 0, t.added.verbatim, e.hidden, e.normalized)
	return e.ids
}

// encoding is the state of encoding one text.
type encoding struct {
	splitting
	t     *Tokenizer
	plain []Span
}

// split passes the text between added tokens on, with its position, and appends the ids of the
// tokens. Like the reference, it encodes white space twice that two tokens include.
func (e *encoding) split(text string, place int, find *finderOfAdded, hidden func(start, end int) bool, between func(text string, place int)) {
	done := 0
	for from := 0; ; {
		token, start, end := find.next(text, from, hidden)
		if token == nil {
			break
		}
		from = end
		if token.SingleWord && !standsAlone(text, start, end) {
			continue
		}
		if token.LStrip {
			start = max(trimRight(text[:start], 0), done)
		}
		if token.RStrip {
			end = characters().run(text, end, spaces)
		}
		if done < start {
			between(text[done:start], place+done)
		}
		if start < end { // else other tokens include all of it
			e.ids = append(e.ids, token.ID)
		}
		done = end
	}
	if done < len(text) {
		between(text[done:], place+done)
	}
}

// normalized appends the ids of a piece without verbatim tokens.
func (e *encoding) normalized(piece string, place int) {
	added := e.t.added.normalized
	if e.t.normalize == nil {
		hidden := func(start, end int) bool { return e.hidden(place+start, place+end) }
		e.split(piece, place, added, hidden, e.words)
		return
	}
	before := aligned{text: piece}
	if added.count > 0 && len(e.plain) > 0 {
		before.origin = make([]int, len(piece))
		for i := range before.origin {
			before.origin[i] = place + i
		}
	}
	after := e.t.normalize.apply(before)
	hidden := func(start, end int) bool {
		for _, origin := range after.origin[min(start, len(after.origin)):min(end, len(after.origin))] {
			if e.hidden(origin, origin+1) {
				return true
			}
		}
		return false
	}
	e.split(after.text, 0, added, hidden, e.words)
}

// words appends the ids of the text between added tokens.
func (e *encoding) words(piece string, _ int) { e.run(0, piece) }

// hidden reports whether a byte from start up to end lies in a plain span.
func (e *encoding) hidden(start, end int) bool {
	if len(e.plain) == 0 {
		return false
	}
	i := sort.Search(len(e.plain), func(i int) bool { return e.plain[i].End > start })
	for ; i < len(e.plain) && e.plain[i].Start < end; i++ {
		if e.plain[i].Start < e.plain[i].End {
			return true
		}
	}
	return false
}

// validUTF8 replaces each byte of invalid UTF-8 by U+FFFD, and moves the spans.
func validUTF8(text string, plain []Span) (string, []Span) {
	var b strings.Builder
	places := make([]int, len(text)+1)
	for i, r := range text {
		places[i] = b.Len()
		b.WriteRune(r)
		size := utf8.RuneLen(r)
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD") {
			size = 1
		}
		for k := 1; k < size; k++ {
			places[i+k] = places[i]
		}
	}
	places[len(text)] = b.Len()
	moved := make([]Span, len(plain))
	for i, s := range plain {
		moved[i] = Span{places[s.Start], places[s.End]}
	}
	return b.String(), moved
}
