package web

import (
	"fmt"
	"html/template"
	"strings"
	"unicode/utf8"

	"relabel/safetext"
)

// body shows a text within the limits.
func (l limits) body(s string) body {
	if l.head == 0 {
		return wholeBody(s)
	}
	return cappedBody(s, l.all)
}

// shown is the call with its blocks as HTML.
func (c callView) shown(l limits) callView {
	blocks := make([]block, len(c.Blocks))
	for i, b := range c.Blocks {
		switch {
		case b.Lines != nil:
			b.HTML = l.diff(b.Lines)
		case b.Spans != nil:
			b.HTML = l.spans(b.Spans)
		default:
			b.HTML = l.spans([]span{{Text: b.Text}})
		}
		blocks[i] = b
	}
	c.Blocks = blocks
	return c
}

// spans writes a text with what is its own marked, long stretches cut.
func (l limits) spans(spans []span) template.HTML {
	var b strings.Builder
	left := 4 * l.head // of a text with many marks
	for i, s := range spans {
		if l.head > 0 && left <= 0 {
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

// stretch writes one span, and returns how many bytes of it there are now. A common
// stretch keeps what stands beside a mark, and the ends of the text.
func (l limits) stretch(b *strings.Builder, s span, first, last bool) int {
	head, tail := l.head, l.tail
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
	if l.head == 0 || len(s.Text) <= head+tail+200 {
		b.WriteString(string(safetext.HTML(s.Text)))
		return len(s.Text)
	}
	begins, ends := cutEnds(s.Text, head, tail)
	b.WriteString(string(safetext.HTML(begins)))
	l.gap(b, len(s.Text)-len(begins)-len(ends))
	b.WriteString(string(safetext.HTML(ends)))
	return len(begins) + len(ends)
}

// gap writes what stands for bytes that are not shown.
func (l limits) gap(b *strings.Builder, n int) {
	fmt.Fprintf(b, `<a class="gap" href="%s">%s are not shown: show all</a>`, template.HTMLEscapeString(l.all), size(n))
}

// cutEnds is what a text begins and ends with: not in the middle of a character, and of a
// line only where lines are long.
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

// lineClasses are the classes of a patch's lines by what they do.
var lineClasses = map[byte]string{'+': "add", '-': "del", '@': "hunk", 'h': "file"}

// diff writes the lines of an edit or a patch; far from any change they are left out.
func (l limits) diff(lines []textLine) template.HTML {
	var long limits // of one line
	if l.lines > 0 {
		lines, long = foldLines(lines, 3, l.lines), limits{head: 1200, tail: 600, all: l.all}
	}
	var b strings.Builder
	for _, line := range lines {
		if line.Gap > 0 {
			fmt.Fprintf(&b, `<a class="gap" href="%s">%d lines are not shown: show all</a>`+"\n", template.HTMLEscapeString(l.all), line.Gap)
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

// size writes a number of bytes.
func size(n int) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%d kB", n/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
