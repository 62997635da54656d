package localise

import (
	"errors"
	"slices"
	"strings"

	"relabel/gitdiff"
)

// edit is a run of lines of the base that become a run of lines of the head. Both are numbered from 0,
// without their ends; one of them may be empty.
type edit struct {
	base, end         int // base lines [base, end)
	headBase, headEnd int // head lines
}

// text is the content of a file by lines, which end with a line feed.
type text struct {
	lines   []string
	noBreak bool // the last line has no end
}

func newText(content string) text {
	if content == "" {
		return text{}
	}
	whole := strings.TrimSuffix(content, "\n")
	return text{strings.Split(whole, "\n"), whole == content}
}

func (t text) String() string {
	joined := strings.Join(t.lines, "\n")
	if len(t.lines) == 0 || t.noBreak {
		return joined
	}
	return joined + "\n"
}

var errApply = errors.New("a hunk does not fit the file")

// apply returns a file with its hunks applied, and what they edit. A hunk whose lines are not where it
// says applies at the nearest place that fits, as with git apply.
func apply(base text, hunks []gitdiff.Hunk) (head text, edits []edit, err error) {
	done, shift := 0, 0 // base lines in the head, and how far the last hunk was from its place
	for _, h := range hunks {
		at, ok := place(base.lines, h, done, shift)
		if !ok {
			return text{}, nil, errApply
		}
		shift = at - first(h)
		head.lines = append(head.lines, base.lines[done:at]...)
		done = at
		edits = append(edits, head.add(h, &done)...)
	}
	rest := base.lines[done:]
	head.lines = append(head.lines, rest...)
	if len(rest) > 0 {
		head.noBreak = base.noBreak
	}
	return head, edits, nil
}

// first is the line of the base, from 0, at which a hunk says that it begins.
func first(h gitdiff.Hunk) int {
	if h.Length == 0 {
		return h.Start // it adds after this line
	}
	return h.Start - 1
}

// place returns the base line at which a hunk applies: the nearest to where it should, from a line on.
func place(base []string, h gitdiff.Hunk, from, shift int) (at int, ok bool) {
	var old []string
	for _, l := range h.Lines {
		if l.Op == gitdiff.Context || l.Op == gitdiff.Removed {
			old = append(old, l.Text)
		}
	}
	fits := func(at int) bool {
		return at >= from && at+len(old) <= len(base) && slices.Equal(base[at:at+len(old)], old)
	}
	want := first(h) + shift
	if len(old) == 0 { // nothing tells another place
		return want, fits(want)
	}
	want = min(max(want, 0), len(base))
	if fits(want) {
		return want, true
	}
	far := func(at int) int { return max(at-want, want-at) }
	for _, found := range occurrences(base, old) {
		if found >= from && (!ok || far(found) < far(at)) {
			at, ok = found, true
		}
	}
	return at, ok
}

// occurrences lists where lines occur in a text, in order, in a time that grows with the two and not with
// their product (Knuth, Morris, Pratt).
func occurrences(in, lines []string) (found []int) {
	border := make([]int, len(lines)+1) // of the first n lines, how many of them are the last ones too
	border[0] = -1
	for i, n := 0, -1; i < len(lines); {
		for n >= 0 && lines[i] != lines[n] {
			n = border[n]
		}
		i++
		n++
		border[i] = n
	}
	n := 0
	for i, line := range in {
		for n >= 0 && (n == len(lines) || line != lines[n]) {
			n = border[n]
		}
		n++
		if n == len(lines) {
			found = append(found, i+1-n)
		}
	}
	return found
}

// add appends the lines of a hunk at a base line, which it moves behind the hunk.
func (t *text) add(h gitdiff.Hunk, base *int) (edits []edit) {
	open := false
	for i, l := range h.Lines {
		if l.Op == gitdiff.NoNewline {
			continue
		}
		if l.Op == gitdiff.Context {
			open = false
		} else if !open {
			edits = append(edits, edit{*base, *base, len(t.lines), len(t.lines)})
			open = true
		}
		if l.Op != gitdiff.Added {
			*base++
		}
		if l.Op != gitdiff.Removed {
			t.lines = append(t.lines, l.Text)
			t.noBreak = i+1 < len(h.Lines) && h.Lines[i+1].Op == gitdiff.NoNewline
		}
		if open {
			last := &edits[len(edits)-1]
			last.end, last.headEnd = *base, len(t.lines)
		}
	}
	return edits
}
