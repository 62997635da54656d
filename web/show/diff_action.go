package show

import (
	"fmt"
	"slices"
	"strings"

	"znkr.io/diff"

	"relabel"
	"relabel/chat"
)

type differenceKind string

// The kinds. chat.Agree decides whether two actions do the same.
const (
	DoesSame       differenceKind = "same"
	otherArguments differenceKind = "arguments" // the same tools in the same order
	otherTool      differenceKind = "tool"      // also: one calls a tool and the other does not
	otherWords     differenceKind = "words"     // neither calls a tool
)

// Difference compares two actions: both laid out, with marks on what the other lacks.
type Difference struct {
	Kind   differenceKind
	In     []string // the arguments that differ, each once, and mostNamed of them at most
	More   int      // that are not named
	Coarse bool     // something was too long to be compared word by word
	A, B   []Call
	// What is said, marked if it is the action: where neither calls a tool.
	WordsA, WordsB []Span
}

// Compare compares the actions of two policies at one state.
func Compare(a, b relabel.Message) Difference {
	d := Difference{A: LayOut(a.ToolCalls), B: LayOut(b.ToolCalls)}
	switch {
	case chat.Agree(a, b):
		d.Kind = DoesSame
		return d
	case len(a.ToolCalls)+len(b.ToolCalls) == 0:
		var by fineness
		d.WordsA, d.WordsB, by = compareTexts(a.Content, b.Content)
		d.Kind, d.Coarse = otherWords, by != byWords
		return d
	}
	d.Kind = otherArguments
	x, y := mapped(d.A, nameOf), mapped(d.B, nameOf)
	i, j := 0, 0
	for _, h := range diff.Hunks(x, y, diff.Context(0)) {
		d.pair(d.A[i:h.PosX], d.B[j:h.PosY])
		d.Kind = otherTool
		d.replace(d.A[h.PosX:h.EndX], d.B[h.PosY:h.EndY])
		i, j = h.EndX, h.EndY
	}
	d.pair(d.A[i:], d.B[j:])
	return d
}

// LayOut lays calls out for reading.
func LayOut(calls []relabel.ToolCall) []Call { return mapped(calls, layOut) }

func nameOf(c Call) string { return c.Name }

// mapped applies f to each item.
func mapped[T, U any](items []T, f func(T) U) []U {
	all := make([]U, len(items))
	for i, item := range items {
		all[i] = f(item)
	}
	return all
}

// replace marks calls in the same place as calls of different tools, and the rest as calls that
// the other side lacks.
func (d *Difference) replace(a, b []Call) {
	n := min(len(a), len(b))
	for k := range n {
		a[k].NameOwn, b[k].NameOwn = true, true
	}
	for k := range a[n:] {
		a[n+k].Alone = true
	}
	for k := range b[n:] {
		b[n+k].Alone = true
	}
}

// pair compares calls of the same tools one by one.
func (d *Difference) pair(a, b []Call) {
	for k := range a {
		d.compareBlocks(a[k].Blocks, b[k].Blocks)
	}
}

// compareBlocks compares the arguments of two calls by name.
func (d *Difference) compareBlocks(a, b []block) {
	met, first := make([]bool, len(b)), map[string]int{}
	for j := len(b) - 1; j >= 0; j-- {
		first[b[j].Name] = j
	}
	for i := range a {
		j, there := first[a[i].Name]
		if !there || met[j] {
			a[i].Own = true
			d.differsIn(a[i].Name)
			continue
		}
		met[j] = true
		if !chat.SameArguments(a[i].Raw, b[j].Raw) {
			d.mark(&a[i], &b[j])
		}
	}
	for j := range b {
		if !met[j] {
			b[j].Own = true
			d.differsIn(b[j].Name)
		}
	}
}

// mark marks the differences in an argument that both calls have.
func (d *Difference) mark(a, b *block) {
	d.differsIn(a.Name)
	var by fineness
	switch {
	case a.Lines != nil && b.Lines != nil:
		by = compareLines(pointers(a.Lines), pointers(b.Lines))
		markEnds(a, b)
	default:
		if a.Text == b.Text { // a text beside a number, say: they differ as JSON alone
			a.Text, b.Text = a.Raw, b.Raw
		}
		a.Spans, b.Spans, by = compareTexts(a.Text, b.Text)
	}
	a.Cut, b.Cut = by, by
	d.Coarse = d.Coarse || by != byWords
}

// markEnds marks two edits with equal lines: the line ends if they differ, otherwise everything.
func markEnds(a, b *block) {
	if AnyOwn(a.Lines) || AnyOwn(b.Lines) {
		return
	}
	for _, of := range [][2]*block{{a, b}, {b, a}} {
		mine, other := of[0], of[1]
		for k, op := range []byte("-+") {
			if mine.Edit[k] != "" && !strings.HasSuffix(mine.Edit[k], "\n") && strings.HasSuffix(other.Edit[k], "\n") {
				end := lineOf(op, noEnd)
				end.Own = true
				mine.Lines = append(mine.Lines, end)
			}
		}
	}
	if !AnyOwn(a.Lines) && !AnyOwn(b.Lines) {
		own(pointers(a.Lines))
		own(pointers(b.Lines))
	}
}

// mostNamed is the number of differing arguments that a turn's head names.
const mostNamed = 8

func (d *Difference) differsIn(name string) {
	switch {
	case slices.Contains(d.In, name):
	case len(d.In) == mostNamed:
		d.More++
	default:
		d.In = append(d.In, name)
	}
}

// Word describes in a few words how the label differs.
func (d Difference) Word() string {
	switch d.Kind {
	case otherArguments:
		if len(d.In) == 0 {
			return "same tool, other arguments"
		}
		names := strings.Join(d.In, ", ")
		if d.More > 0 {
			names += fmt.Sprintf(" and %d more", d.More)
		}
		return "same tool, other " + names
	case otherTool:
		switch {
		case len(d.A) == 0:
			return "only the label calls a tool"
		case len(d.B) == 0:
			return "the label calls no tool"
		case len(d.A) != len(d.B) && !slices.ContainsFunc(d.A, func(c Call) bool { return c.NameOwn }):
			return "other number of calls"
		}
		return "other tool"
	case otherWords:
		return "other words"
	}
	return "does the same"
}

// Label describes how the label differs, for the head of a turn.
func (d Difference) Label() string {
	if d.Kind == DoesSame {
		return "label equal"
	}
	return "label: " + d.Word()
}
