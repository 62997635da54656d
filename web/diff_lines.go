package web

import (
	"strings"

	"znkr.io/diff"
)

// textLine is a line of an edit or of a patch.
type textLine struct {
	Op    byte   // '+' put in, '-' taken out, ' ' kept; 'h' and '@' are a patch's own lines
	Spans []span // its text, without the end
	Own   bool   // the other side lacks it
	Gap   int    // so many lines are left out here; then there is nothing else
}

// text is the line without its marks.
func (l textLine) text() string {
	if len(l.Spans) == 1 {
		return l.Spans[0].Text
	}
	all := ""
	for _, s := range l.Spans {
		all += s.Text
	}
	return all
}

func lineOf(op byte, text string) textLine { return textLine{Op: op, Spans: []span{{Text: text}}} }

// noEnd is a line that says what the line before it lacks.
const noEnd = `\ no line end after this`

// editLines shows what an edit does: the lines that it keeps, takes out and puts in.
func editLines(before, after string) (lines []textLine) {
	x, y := bareLines(before), bareLines(after)
	add := func(op byte, texts []string) {
		for _, text := range texts {
			lines = append(lines, lineOf(op, text))
		}
	}
	i, marks := 0, &marker{}
	for _, h := range hunksOf(x, y) {
		add(' ', x[i:h.PosX])
		add('-', x[h.PosX:h.EndX])
		add('+', y[h.PosY:h.EndY])
		marks.replaced(lines, h)
		i = h.EndX
	}
	add(' ', x[i:])
	if before != "" && after != "" && strings.HasSuffix(before, "\n") != strings.HasSuffix(after, "\n") {
		lines = append(lines, lineOf(map[bool]byte{true: '-', false: '+'}[strings.HasSuffix(after, "\n")], noEnd))
	}
	return lines
}

// marker marks words in lines that stand for each other, as long as there are not too many.
type marker struct{ done int } // bytes of lines so far

// mostMarked is how many bytes of lines words are looked for in.
const mostMarked = 100_000

// replaced marks the words that differ between the lines that a hunk has taken out and put
// in, which are the last of lines.
func (m *marker) replaced(lines []textLine, h diff.Hunk[string]) {
	out, in := h.EndX-h.PosX, h.EndY-h.PosY
	taken := lines[len(lines)-out-in:]
	for k := 0; k < min(out, in); k++ {
		m.words(&taken[k], &taken[out+k])
	}
}

// words marks the words in which two lines differ, where they have some in common.
func (m *marker) words(a, b *textLine) {
	u, v := a.text(), b.text()
	const longest = 2000 // bytes of a line that words are looked for in
	if len(u)+len(v) > longest || m.done > mostMarked {
		return
	}
	m.done += len(u) + len(v)
	x, y := compareTokens(words(u), words(v))
	if len(x) == 1 && x[0].Own || len(y) == 1 && y[0].Own || len(x) == 0 || len(y) == 0 {
		return // all of it differs, which the line itself says
	}
	a.Spans, b.Spans = x, y
}

// bareLines cuts a text into lines without their ends.
func bareLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// compareLines marks in each list the lines that the other lacks, and in lines that stand
// for each other the words. It returns how finely it could compare.
func compareLines(a, b []textLine) fineness {
	clear(a)
	clear(b)
	x, y := keysOf(a), keysOf(b)
	if len(x)+len(y) > mostLines {
		head, tail := commonEnds(x, y)
		own(a[head : len(a)-tail])
		own(b[head : len(b)-tail])
		return byEnds
	}
	marks := &marker{}
	for _, h := range hunksOf(x, y) {
		own(a[h.PosX:h.EndX])
		own(b[h.PosY:h.EndY])
		marks.pair(a[h.PosX:h.EndX], b[h.PosY:h.EndY])
	}
	if marks.done > mostMarked {
		return byLines
	}
	return byWords
}

// clear takes all marks off.
func clear(lines []textLine) {
	for i := range lines {
		lines[i].Own, lines[i].Spans = false, []span{{Text: lines[i].text()}}
	}
}

func own(lines []textLine) {
	for i := range lines {
		lines[i].Own = true
	}
}

// pair marks words in lines that do the same to other words, in their order.
func (m *marker) pair(a, b []textLine) {
	next := map[byte]int{} // by what lines do
	for i := range a {
		k := next[a[i].Op]
		for k < len(b) && b[k].Op != a[i].Op {
			k++
		}
		if next[a[i].Op] = k + 1; k < len(b) {
			m.words(&a[i], &b[k])
		}
	}
}

// keysOf is what makes two lines the same.
func keysOf(lines []textLine) []string {
	keys := make([]string, len(lines))
	for i, l := range lines {
		keys[i] = string(l.Op) + l.text()
	}
	return keys
}

func commonEnds(x, y []string) (head, tail int) {
	for head < min(len(x), len(y)) && x[head] == y[head] {
		head++
	}
	for tail < min(len(x), len(y))-head && x[len(x)-1-tail] == y[len(y)-1-tail] {
		tail++
	}
	return head, tail
}

// foldLines leaves out what is far from any change or mark, and what is beyond the most
// lines that are shown; a line in its place says how many.
func foldLines(lines []textLine, context, most int) []textLine {
	keep := make([]bool, len(lines))
	for i, l := range lines {
		if l.Own || l.Op != ' ' {
			for k := max(0, i-context); k <= min(len(lines)-1, i+context); k++ {
				keep[k] = true
			}
		}
	}
	var shown []textLine
	kept := 0
	for i := 0; i < len(lines); {
		if keep[i] && kept < most {
			shown = append(shown, lines[i])
			kept++
			i++
			continue
		}
		from := i
		for i < len(lines) && (!keep[i] || kept >= most) {
			i++
		}
		if i-from == 1 && kept < most {
			shown = append(shown, lines[from]) // as short as what would stand in its place
			continue
		}
		shown = append(shown, textLine{Gap: i - from})
	}
	return shown
}
