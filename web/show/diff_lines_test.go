package show

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawn writes lines as a person would, with what is the side's own in brackets.
func drawn(lines []Line) []string {
	var all []string
	for _, l := range lines {
		if l.Gap > 0 {
			all = append(all, fmt.Sprintf("… %d", l.Gap))
			continue
		}
		text := string(l.Op) + marked(l.Spans)
		if l.Own {
			text = "*" + text
		}
		all = append(all, text)
	}
	return all
}

func TestAnEditIsShownAsTheLinesThatItChanges(t *testing.T) {
	for _, c := range []struct {
		name, before, after string
		want                []string
	}{
		{"a word", "def f(x):\n    return x", "def f(x):\n    return x or 0",
			[]string{" def f(x):", "-    return x", "+    return x[ or 0]"}},
		{"a line more", "a\nb", "a\nnew\nb", []string{" a", "+new", " b"}},
		{"all of it", "old", "other", []string{"-old", "+other"}},
		{"out of nothing", "", "a\n\nb\n", []string{"+a", "+", "+b"}},
		{"the last line's end", "a", "a\n", []string{" a", "-" + noEnd}},
		{"an end that is lost", "a\n", "a", []string{" a", "+" + noEnd}},
	} {
		if got := drawn(editLines(c.before, c.after)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLinesThatTheOtherEditLacksAreMarked(t *testing.T) {
	a := editLines("    return x\n    # end", "    return x or 0\n    # end")
	b := editLines("    return x\n    # end", "    return abs x\n    # end")
	if by := compareLines(pointers(a), pointers(b)); by != byWords {
		t.Errorf("compared by %d", by)
	}
	want := [][]string{
		{"-    return x", "*+    return x[ or 0]", "     # end"},
		{"-    return x", "*+    return [abs ]x", "     # end"},
	}
	if got := [][]string{drawn(a), drawn(b)}; !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLinesFarFromADifferenceAreFolded(t *testing.T) {
	var lines []Line
	for i := range 20 {
		lines = append(lines, lineOf(' ', fmt.Sprint(i)))
	}
	lines[10].Own = true
	lines[17].Op = '+'
	want := []string{"… 8", " 8", " 9", "* 10", " 11", " 12", "… 2", " 15", " 16", "+17", " 18", " 19"}
	if got := drawn(foldLines(lines, 2, 100)); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := drawn(foldLines(lines, 2, 4)); !slices.Equal(got, []string{"… 8", " 8", " 9", "* 10", " 11", "… 8"}) {
		t.Errorf("of four lines at most: %q", got)
	}
	if got := foldLines(nil, 3, 100); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}

func TestAnEditWithoutItsDeletionsIsTheNewText(t *testing.T) {
	texts := rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "", "long line of words", "long line of other words"}), 0, 12).Draw(t, "lines")
		return strings.Join(lines, "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
	})
	rapid.Check(t, func(t *rapid.T) {
		before, after := texts.Draw(t, "before"), texts.Draw(t, "after")
		lines := editLines(before, after)
		var old, new []string
		for _, l := range lines {
			if l.text() == noEnd {
				continue
			}
			if l.Op != '+' {
				old = append(old, l.text())
			}
			if l.Op != '-' {
				new = append(new, l.text())
			}
		}
		if !slices.Equal(old, bareLines(before)) || !slices.Equal(new, bareLines(after)) {
			t.Errorf("%q to %q: %q", before, after, drawn(lines))
		}
		other := editLines(texts.Draw(t, "other before"), texts.Draw(t, "other after"))
		compareLines(pointers(lines), pointers(other))
		common := func(lines []Line) (keys []string) {
			for _, l := range lines {
				if !l.Own {
					keys = append(keys, string(l.Op)+l.text())
				}
			}
			return keys
		}
		if a, b := common(lines), common(other); !slices.Equal(a, b) {
			t.Errorf("what is not marked differs: %q, %q", a, b)
		}
		shown := foldLines(lines, 1, 5)
		n := 0
		for _, l := range shown {
			if n += l.Gap; l.Gap == 0 {
				n++
			}
		}
		if n != len(lines) {
			t.Errorf("%d of %d lines are accounted for", n, len(lines))
		}
	})
}
