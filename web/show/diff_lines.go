package show

import (
	"slices"
	"strings"

	"znkr.io/diff"
)

// Line is a line of an edit or a patch.
type Line struct {
	Op    byte   // '+' added, '-' removed, ' ' kept; 'h' and '@' are headers of a patch
	Spans []Span // its text, without the end
	Own   bool   // the other side lacks it
	Gap   int    // number of folded lines; the other fields are empty then
}

// text is the line without its marks.
func (l Line) text() string {
	if len(l.Spans) == 1 {
		return l.Spans[0].Text
	}
	all := ""
	for _, s := range l.Spans {
		all += s.Text
	}
	return all
}

func lineOf(op byte, text string) Line { return Line{Op: op, Spans: []Span{{Text: text}}} }

// noEnd is the text of a line that says that the line before it has no line end.
const noEnd = `\ no line end after this`

// editLines returns the lines that an edit keeps, removes and adds.
func editLines(before, after string) (lines []Line) {
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

// marker marks differing words in pairs of lines, up to mostMarked bytes.
type marker struct{ done int } // bytes of lines so far

// mostMarked bounds the bytes of lines that are compared by words.
const mostMarked = 100_000

// replaced marks the words that differ between the lines that a hunk removes and adds, which are
// the last of lines.
func (m *marker) replaced(lines []Line, h diff.Hunk[string]) {
	out, in := h.EndX-h.PosX, h.EndY-h.PosY
	taken := lines[len(lines)-out-in:]
	for k := 0; k < min(out, in); k++ {
		m.words(&taken[k], &taken[out+k])
	}
}

func (m *marker) words(a, b *Line) {
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

// compareLines marks the lines that the other list lacks, and the words in pairs of lines. It
// returns the finest comparison that was possible.
func compareLines(a, b []*Line) fineness {
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

func own(lines []*Line) {
	for _, l := range lines {
		l.Own = true
	}
}

// pair marks words in lines with the same operation, in order.
func (m *marker) pair(a, b []*Line) {
	next := map[byte]int{} // by operation
	for _, l := range a {
		k := next[l.Op]
		for k < len(b) && b[k].Op != l.Op {
			k++
		}
		if next[l.Op] = k + 1; k < len(b) {
			m.words(l, b[k])
		}
	}
}

// keysOf removes all marks, and returns the keys by which lines are compared.
func keysOf(lines []*Line) []string {
	keys := make([]string, len(lines))
	for i, l := range lines {
		text := l.text()
		l.Own, l.Spans, keys[i] = false, []Span{{Text: text}}, string(l.Op)+text
	}
	return keys
}

func pointers(lines []Line) []*Line {
	all := make([]*Line, len(lines))
	for i := range lines {
		all[i] = &lines[i]
	}
	return all
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

// foldLines folds lines far from any change or mark and lines beyond the first most lines; a line
// in their place has their number.
func foldLines(lines []Line, context, most int) []Line {
	keep := make([]bool, len(lines))
	for i, l := range lines {
		if l.Own || l.Op != ' ' {
			for k := max(0, i-context); k <= min(len(lines)-1, i+context); k++ {
				keep[k] = true
			}
		}
	}
	var shown []Line
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
		shown = append(shown, Line{Gap: i - from})
	}
	return shown
}

// AnyOwn reports whether a line is in only one of two compared texts.
func AnyOwn(lines []Line) bool { return slices.ContainsFunc(lines, func(l Line) bool { return l.Own }) }
