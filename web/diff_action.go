package web

import (
	"fmt"
	"slices"
	"strings"

	"znkr.io/diff"

	"relabel"
)

// differenceKind says in what two actions differ.
type differenceKind string

// The kinds. Whether two actions do the same is what relabel.Agree says.
const (
	doesSame       differenceKind = "same"
	otherArguments differenceKind = "arguments" // the same tools in the same order
	otherTool      differenceKind = "tool"      // also: one calls a tool and the other does not
	otherWords     differenceKind = "words"     // neither calls a tool
)

// difference is how two actions stand to each other, with both laid out and what each
// has of its own marked.
type difference struct {
	Kind   differenceKind
	In     []string // the arguments that differ, each once, and mostNamed of them at most
	More   int      // that are not named
	Coarse bool     // something was too long to be compared word by word
	A, B   []callView
	// What is said, marked where it is the action: where neither calls a tool.
	WordsA, WordsB []span
}

// compareActions compares what two policies did at one state.
func compareActions(a, b relabel.Message) difference {
	d := difference{A: layOutAll(a.ToolCalls), B: layOutAll(b.ToolCalls)}
	switch {
	case relabel.Agree(a, b):
		d.Kind = doesSame
		return d
	case len(a.ToolCalls)+len(b.ToolCalls) == 0:
		var by fineness
		d.WordsA, d.WordsB, by = compareTexts(a.Content, b.Content)
		d.Kind, d.Coarse = otherWords, by != byWords
		return d
	}
	d.Kind = otherArguments
	x, y := namesOf(d.A), namesOf(d.B)
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

func layOutAll(calls []relabel.ToolCall) []callView {
	views := make([]callView, len(calls))
	for i, c := range calls {
		views[i] = layOut(c)
	}
	return views
}

func namesOf(calls []callView) []string {
	names := make([]string, len(calls))
	for i, c := range calls {
		names[i] = c.Name
	}
	return names
}

// replace says of calls in each other's place that they are of other tools, and of the
// rest that the other side has none.
func (d *difference) replace(a, b []callView) {
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
func (d *difference) pair(a, b []callView) {
	for k := range a {
		d.compareBlocks(a[k].Blocks, b[k].Blocks)
	}
}

// compareBlocks compares the arguments of two calls by name.
func (d *difference) compareBlocks(a, b []block) {
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
		if !relabel.SameArguments(a[i].Raw, b[j].Raw) {
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

// mark marks what differs in an argument that both have.
func (d *difference) mark(a, b *block) {
	d.differsIn(a.Name)
	var by fineness
	switch {
	case a.Lines != nil && b.Lines != nil:
		by = compareLines(a.Lines, b.Lines)
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

// markEnds marks what two edits differ in where their lines are the same: whether the last
// ones are ended, or else everything.
func markEnds(a, b *block) {
	if anyOwn(a.Lines) || anyOwn(b.Lines) {
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
	if !anyOwn(a.Lines) && !anyOwn(b.Lines) {
		own(a.Lines)
		own(b.Lines)
	}
}

// mostNamed is how many arguments a turn's head names.
const mostNamed = 8

func (d *difference) differsIn(name string) {
	switch {
	case slices.Contains(d.In, name):
	case len(d.In) == mostNamed:
		d.More++
	default:
		d.In = append(d.In, name)
	}
}

// Word says in a few words how the label differs.
func (d difference) Word() string {
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
		case len(d.A) != len(d.B) && !slices.ContainsFunc(d.A, func(c callView) bool { return c.NameOwn }):
			return "other number of calls"
		}
		return "other tool"
	case otherWords:
		return "other words"
	}
	return "does the same"
}
