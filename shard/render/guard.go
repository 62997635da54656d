package render

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"relabel/jinja"
	"relabel/tokenizer"
)

// The text of a special token inside a message is data, not a token. Before the template sees it, a
// private-use character, the guard, is inserted; afterwards it is removed. This distinguishes the
// tokens that the template wrote from those in its input.

// The range of guards. A conversation uses the first one that its messages do not contain.
const (
	firstGuard = '\ue001'
	lastGuard  = '\uf8ff'
)

// specials finds special tokens in texts.
type specials struct {
	byFirst [256][]special // by first byte, longest first
	alone   bool           // no special token matches text around it
}

type special struct {
	text string
	id   int32
}

func newSpecials(t *tokenizer.Tokenizer) *specials {
	s := &specials{alone: true}
	for _, a := range t.Special() {
		s.alone = s.alone && !a.SingleWord && !a.LStrip && !a.RStrip && !a.Normalized
		at := &s.byFirst[a.Content[0]]
		*at = append(*at, special{a.Content, a.ID})
	}
	for _, at := range s.byFirst {
		slices.SortStableFunc(at, func(a, b special) int { return len(b.text) - len(a.text) })
	}
	return s
}

// at returns the longest special token at the start of text.
func (s *specials) at(text string) (special, bool) {
	if text == "" {
		return special{}, false
	}
	for _, candidate := range s.byFirst[text[0]] {
		if strings.HasPrefix(text, candidate.text) {
			return candidate, true
		}
	}
	return special{}, false
}

// next returns the position of the first special token at or after from, -1 if there is none.
func (s *specials) next(text string, from int) (int, special) {
	for i := from; i < len(text); i++ {
		if s.byFirst[text[i]] == nil {
			continue
		}
		if found, ok := s.at(text[i:]); ok {
			return i, found
		}
	}
	return -1, special{}
}

// guard inserts guards into the special tokens of a value's texts and names, and counts them.
func (s *specials) guard(v jinja.Value, guard rune, count *int) jinja.Value {
	switch v := v.(type) {
	case string:
		return s.guardText(v, guard, count)
	case *jinja.List:
		list := jinja.NewList()
		for i := range v.Len() {
			list.Append(s.guard(v.At(i), guard, count))
		}
		return list
	case *jinja.Map:
		m := jinja.NewMap()
		for i := range v.Len() {
			key := s.guardText(v.Key(i).(string), guard, count) // keys of JSON are texts
			m.Set(key, s.guard(v.ValueAt(i), guard, count))
		}
		return m
	}
	return v
}

func (s *specials) guardText(text string, guard rune, count *int) string {
	var b strings.Builder
	from := 0
	for {
		at, found := s.next(text, from)
		if at < 0 {
			break
		}
		_, n := utf8.DecodeRuneInString(found.text)
		b.WriteString(text[from : at+n])
		b.WriteRune(guard)
		b.WriteString(found.text[n:])
		from = at + len(found.text)
		*count++
	}
	if from == 0 {
		return text
	}
	b.WriteString(text[from:])
	return b.String()
}

// rendered is a template's output: the text, and the positions of special tokens' text that
// is data.
type rendered struct {
	text  string
	plain []tokenizer.Span
}

// mend removes the guards from a rendered text.
func (s *specials) mend(text string, guard rune) rendered {
	at := strings.IndexRune(text, guard)
	if at < 0 {
		return rendered{text: text}
	}
	mended := make([]byte, 0, len(text))
	var starts []int
	for ; at >= 0; at = strings.IndexRune(text, guard) {
		mended = append(mended, text[:at]...)
		_, n := utf8.DecodeLastRune(mended)
		starts = append(starts, len(mended)-n)
		text = text[at+utf8.RuneLen(guard):]
	}
	r := rendered{text: string(append(mended, text...))}
	for _, at := range starts {
		if found, ok := s.at(r.text[at:]); ok {
			r.plain = append(r.plain, tokenizer.Span{Start: at, End: at + len(found.text)})
		}
	}
	return r
}

// between returns the bytes from a to b.
func (r rendered) between(a, b int) rendered {
	piece := rendered{text: r.text[a:b]}
	for _, p := range r.plain {
		if p.Start >= a && p.End <= b {
			piece.plain = append(piece.plain, tokenizer.Span{Start: p.Start - a, End: p.End - a})
		}
	}
	return piece
}

// nextToken returns the position of the first special token at or after from that the template
// wrote itself, -1 if there is none.
func (s *specials) nextToken(r rendered, from int) (int, special) {
	for {
		at, found := s.next(r.text, from)
		if at < 0 {
			return -1, special{}
		}
		i := sort.Search(len(r.plain), func(i int) bool { return r.plain[i].End > at })
		if i == len(r.plain) || r.plain[i].Start >= at+len(found.text) {
			return at, found
		}
		from = r.plain[i].End
		if r.plain[i].Start > at { // a token that begins before data ends within it
			from = at + 1
		}
	}
}
