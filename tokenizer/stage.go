package tokenizer

import (
	"iter"
	"slices"
	"unicode/utf8"
)

// finder yields the matches of a pattern in a text, from left to right, without overlap.
type finder interface {
	all(text string) iter.Seq[Span]
}

// scanner is a hand-written pattern: it returns the next match in s at or after i, which is
// never empty; start is len(s) if there is none.
type scanner func(s string, i int) (start, end int)

func (scan scanner) all(text string) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for i := 0; i < len(text); {
			start, end := scan(text, i)
			if start == len(text) || !yield(Span{start, end}) {
				return
			}
			i = end
		}
	}
}

// stageKind is the kind of a step of pre-tokenization.
type stageKind int

const (
	stageSplit       stageKind = iota // splits at the matches of find
	stagePrefixSpace                  // adds a space before a text that begins with none
	stageByteChars                    // writes bytes as characters
)

// behavior is the treatment of a match.
type behavior int

const (
	isolated behavior = iota // a piece of its own
	removed                  // dropped
	mergedWithPrevious
	mergedWithNext
	contiguous // one piece with the matches beside it
)

var behaviors = map[string]behavior{"Isolated": isolated, "Removed": removed, "MergedWithPrevious": mergedWithPrevious,
	"MergedWithNext": mergedWithNext, "Contiguous": contiguous}

// stage is a step of pre-tokenization: it turns each piece of text into smaller ones.
type stage struct {
	kind     stageKind
	find     finder
	behavior behavior
	invert   bool // swaps matches and the text between them
}

// splitting passes a text through the stages and collects its ids.
type splitting struct {
	stages []stage
	model  *model
	ids    []int32
}

// run passes a piece through the stages from the k-th on and appends the ids of its words.
func (p *splitting) run(k int, piece string) {
	if piece == "" {
		return
	}
	if k == len(p.stages) {
		p.ids = p.model.appendWord(p.ids, piece)
		return
	}
	switch s := &p.stages[k]; s.kind {
	case stagePrefixSpace:
		if piece[0] != ' ' {
			piece = " " + piece
		}
		p.run(k+1, piece)
	case stageByteChars:
		p.run(k+1, string(appendByteChars(nil, piece)))
	case stageSplit:
		switch {
		case s.behavior > removed:
			for _, part := range s.merged(piece) {
				p.run(k+1, piece[part.Start:part.End])
			}
		case s.behavior == isolated:
			p.cut(k, piece, true, true)
		default:
			p.cut(k, piece, s.invert, !s.invert)
		}
	}
}

// cut passes matches, the text between them, or both to the next stage, each as one piece.
func (p *splitting) cut(k int, piece string, matches, gaps bool) {
	scan, byHand := p.stages[k].find.(scanner)
	if !byHand {
		last := 0
		for m := range p.stages[k].find.all(piece) {
			if gaps {
				p.run(k+1, piece[last:m.Start])
			}
			if matches {
				p.run(k+1, piece[m.Start:m.End])
			}
			last = m.End
		}
		if gaps {
			p.run(k+1, piece[last:])
		}
		return
	}
	for i := 0; i < len(piece); {
		start, end := scan(piece, i)
		if gaps && start > i {
			p.run(k+1, piece[i:start])
		}
		if start == len(piece) {
			return
		}
		if matches {
			p.run(k+1, piece[start:end])
		}
		i = end
	}
}

// piecePart is a match or the text between two matches.
type piecePart struct {
	Span
	match bool
}

// merged splits a piece, joining matches with a neighbour.
func (s *stage) merged(piece string) []Span {
	var parts []piecePart
	last := 0
	for m := range s.find.all(piece) {
		if m.Start > last {
			parts = append(parts, piecePart{Span{last, m.Start}, s.invert})
		}
		parts = append(parts, piecePart{m, !s.invert})
		last = m.End
	}
	if last < len(piece) {
		parts = append(parts, piecePart{Span{last, len(piece)}, s.invert})
	}
	if s.behavior == mergedWithNext {
		slices.Reverse(parts)
	}
	var spans []Span
	before := false // whether the part before was a match
	for _, part := range parts {
		join := part.match && !before
		if s.behavior == contiguous {
			join = part.match == before
		}
		before = part.match
		if n := len(spans); join && n > 0 {
			spans[n-1] = Span{min(spans[n-1].Start, part.Start), max(spans[n-1].End, part.End)}
		} else {
			spans = append(spans, part.Span)
		}
	}
	if s.behavior == mergedWithNext {
		slices.Reverse(spans)
	}
	return spans
}

// charFinder finds each character of a class.
type charFinder func(r rune) bool

func (f charFinder) all(text string) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for i, r := range text {
			if f(r) && !yield(Span{i, i + utf8.RuneLen(r)}) {
				return
			}
		}
	}
}

// runFinder finds the longest runs of characters of either class.
type runFinder [2]func(r rune) bool

func (f runFinder) all(text string) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		start, in := 0, -1
		for i, r := range text {
			now := -1
			for k, is := range f {
				if is(r) {
					now = k
				}
			}
			if now == in {
				continue
			}
			if in >= 0 && !yield(Span{start, i}) {
				return
			}
			start, in = i, now
		}
		if in >= 0 {
			yield(Span{start, len(text)})
		}
	}
}
