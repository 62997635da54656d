package show

import (
	"fmt"
	"html/template"
	"strings"
	"time"
	"unicode/utf8"

	"relabel/safetext"
)

// Body renders a text within the limits.
func (l Limits) Body(s string) Body {
	if l.Head == 0 || len(s) <= HeadShown+TailShown+200 {
		return Whole(s)
	}
	head, tail := cutEnds(s, HeadShown, TailShown)
	return bodyOf(head, tail, len(s), l.All)
}

func (c Call) shown(l Limits) Call {
	blocks := make([]block, len(c.Blocks))
	for i, b := range c.Blocks {
		switch {
		case b.Lines != nil:
			b.HTML = l.Diff(b.Lines)
		case b.Spans != nil:
			b.HTML = l.spans(b.Spans)
		default:
			b.HTML = l.spans([]Span{{Text: b.Text}})
		}
		blocks[i] = b
	}
	c.Blocks = blocks
	return c
}

// spans renders a text with its marks; long stretches are cut.
func (l Limits) spans(spans []Span) template.HTML {
	var b strings.Builder
	left := 4 * l.Head // of a text with many marks
	for i, s := range spans {
		if l.Head > 0 && left <= 0 {
			rest := 0
			for _, s := range spans[i:] {
				rest += len(s.Text)
			}
			l.gap(&b, rest)
			break
		}
		left -= l.stretch(&b, s, i == 0, i == len(spans)-1)
	}
	return template.HTML(b.String()) // its pieces were escaped
}

// stretch renders one span and returns how many of its bytes are shown. An unmarked span keeps
// the text next to marks and the ends of the whole text.
func (l Limits) stretch(b *strings.Builder, s Span, first, last bool) int {
	head, tail := l.Head, l.tail
	if !s.Own && !first {
		head = min(head, 300)
	}
	if !s.Own && !last {
		tail = min(tail, 300)
	}
	if s.Own {
		b.WriteString("<mark>")
		defer b.WriteString("</mark>")
	}
	if l.Head == 0 || len(s.Text) <= head+tail+200 {
		b.WriteString(string(safetext.HTML(s.Text)))
		return len(s.Text)
	}
	begins, ends := cutEnds(s.Text, head, tail)
	b.WriteString(string(safetext.HTML(begins)))
	l.gap(b, len(s.Text)-len(begins)-len(ends))
	b.WriteString(string(safetext.HTML(ends)))
	return len(begins) + len(ends)
}

func (l Limits) gap(b *strings.Builder, n int) {
	fmt.Fprintf(b, `<a class="gap" href="%s">%s are not shown: show all</a>`, template.HTMLEscapeString(l.All), Size(n))
}

// cutEnds returns the start and the end of a text, cut between characters and, unless lines are
// long, between lines.
func cutEnds(s string, head, tail int) (begins, ends string) {
	begins, ends = s[:head], s[len(s)-tail:]
	if i := strings.LastIndexByte(begins, '\n'); i > head/2 {
		begins = begins[:i+1]
	}
	if i := strings.IndexByte(ends, '\n'); i >= 0 && i < tail/2 {
		ends = ends[i+1:]
	}
	for n := 0; n < 4 && len(begins) > 0 && !utf8.RuneStart(s[len(begins)]); n++ {
		begins = begins[:len(begins)-1]
	}
	for n := 0; n < 4 && len(ends) > 0 && !utf8.RuneStart(ends[0]); n++ {
		ends = ends[1:]
	}
	return begins, ends
}

var lineClasses = map[byte]string{'+': "add", '-': "del", '@': "hunk", 'h': "file"}

// Diff renders the lines of an edit or a patch; lines far from any change are folded.
func (l Limits) Diff(lines []Line) template.HTML {
	var long Limits // of one line
	if l.Lines > 0 {
		lines, long = foldLines(lines, 3, l.Lines), Limits{Head: 1200, tail: 600, All: l.All}
	}
	var b strings.Builder
	for _, line := range lines {
		if line.Gap > 0 {
			fmt.Fprintf(&b, `<a class="gap" href="%s">%d lines are not shown: show all</a>`+"\n", template.HTMLEscapeString(l.All), line.Gap)
			continue
		}
		class := strings.TrimSpace("l " + lineClasses[line.Op])
		if line.Own {
			class += " own"
		}
		fmt.Fprintf(&b, `<span class="%s">`, class)
		if strings.IndexByte("+- ", line.Op) >= 0 {
			b.WriteByte(line.Op)
		}
		for _, s := range line.Spans {
			long.stretch(&b, s, true, true)
		}
		b.WriteString("</span>\n")
	}
	return template.HTML(b.String()) // its pieces were escaped
}

// Size formats a number of bytes.
func Size(n int) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%d kB", n/1000)
	}
	if n < 1_000_000_000 {
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// Duration formats milliseconds.
func Duration(millis int64) string {
	if millis < 1000 {
		return fmt.Sprintf("%d ms", millis)
	}
	return time.Duration(millis * int64(time.Millisecond)).Round(100 * time.Millisecond).String()
}
