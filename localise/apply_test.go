package localise

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"relabel/gitdiff"
)

// TestDiffsOfGitApply applies git's diffs of random texts.
func TestDiffsOfGitApply(t *testing.T) {
	line := rapid.SampledFrom([]string{"", "a", "b", "c", "-- a/x", "++ b/x", "@@ -1 +1 @@", "\\ y", "é", "z\r", " "})
	lines := rapid.SliceOfN(line, 0, 20)
	rapid.Check(t, func(r *rapid.T) {
		base, head := strings.Join(lines.Draw(r, "base"), "\n"), strings.Join(lines.Draw(r, "head"), "\n")
		context := rapid.SampledFrom([]string{"-U0", "-U1", "-U3"}).Draw(r, "context")
		if base == head {
			return
		}
		text := diff(t, base, head, context)
		files, err := gitdiff.Changes(text)
		if err != nil {
			r.Fatal(err)
		}
		got, edits, err := apply(newText(base), files[0].Hunks)
		if err != nil || got.String() != head {
			r.Fatalf("%q, %v in\n%s", got.String(), err, text)
		}
		checkEdits(r, newText(base), got, edits)
	})
}

// checkEdits checks that the texts differ in the edits alone.
func checkEdits(t *rapid.T, base, head text, edits []edit) {
	b, h := 0, 0
	for _, e := range edits {
		if e.base < b || e.headBase < h || !slices.Equal(base.lines[b:e.base], head.lines[h:e.headBase]) || e.base == e.end && e.headBase == e.headEnd {
			t.Fatalf("the edits are %v", edits)
		}
		b, h = e.end, e.headEnd
	}
	if !slices.Equal(base.lines[b:], head.lines[h:]) {
		t.Fatalf("the edits are %v", edits)
	}
}

func TestHunksApplyAtTheNearestPlace(t *testing.T) {
	hunk := "@@ -2,3 +2,4 @@\n a\n-b\n+B\n+C\n c\n"
	for name, c := range map[string]struct{ base, want string }{
		"as it says":      {"x\na\nb\nc\ny\n", "x\na\nB\nC\nc\ny\n"},
		"later":           {"x\nx\nx\na\nb\nc\ny\n", "x\nx\nx\na\nB\nC\nc\ny\n"},
		"earlier":         {"a\nb\nc\ny\n", "a\nB\nC\nc\ny\n"},
		"the nearer one":  {"a\nb\nc\nx\nx\nx\na\nb\nc\n", "a\nB\nC\nc\nx\nx\nx\na\nb\nc\n"},
		"no end":          {"x\na\nb\nc", "x\na\nB\nC\nc\n"},
		"not there":       {"x\na\nb\nC\n", ""},
		"other line ends": {"x\r\na\r\nb\r\nc\r\n", ""},
		"empty":           {"", ""},
	} {
		files, err := gitdiff.Changes("--- a/x\n+++ b/x\n" + hunk)
		must(t, err)
		got, _, err := apply(newText(c.base), files[0].Hunks)
		if got.String() != c.want || (c.want == "") != errors.Is(err, errApply) {
			t.Errorf("%s: %q, %v", name, got.String(), err)
		}
	}
}

func TestALaterHunkMovesAsTheOneBefore(t *testing.T) {
	files, err := gitdiff.Changes("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-first\n+1\n@@ -3 +3 @@\n-a\n+b\n")
	must(t, err)
	got, edits, err := apply(newText("x\nx\nx\nfirst\na\na\na\n"), files[0].Hunks)
	if err != nil || got.String() != "x\nx\nx\n1\na\nb\na\n" || len(edits) != 2 {
		t.Errorf("%q, %v, %v", got.String(), edits, err)
	}
}

func TestHunksDoNotApplyBeforeTheOneBefore(t *testing.T) {
	files, err := gitdiff.Changes("--- a/x\n+++ b/x\n@@ -2 +2 @@\n-b\n+c\n@@ -3 +3 @@\n-a\n+c\n")
	must(t, err)
	if got, _, err := apply(newText("a\nb\nx\n"), files[0].Hunks); !errors.Is(err, errApply) {
		t.Errorf("%q, %v", got.String(), err)
	}
}

// TestAHunkThatFitsNowhereIsRefusedSoon would take hours if its lines were compared at each place.
func TestAHunkThatFitsNowhereIsRefusedSoon(t *testing.T) {
	base := newText(strings.Repeat("\n", 1_000_000))
	h := gitdiff.Hunk{Start: 1, Length: 500_001, Lines: make([]gitdiff.Line, 500_001)}
	for i := range h.Lines {
		h.Lines[i].Op = gitdiff.Context
	}
	h.Lines[500_000] = gitdiff.Line{Op: gitdiff.Removed, Text: "x"}
	begun := time.Now()
	if _, _, err := apply(base, []gitdiff.Hunk{h}); !errors.Is(err, errApply) {
		t.Error(err)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestLinesAreFoundWhereverTheyAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a", "b"})
		in, lines := rapid.SliceOfN(line, 0, 30).Draw(t, "in"), rapid.SliceOfN(line, 1, 6).Draw(t, "lines")
		var want []int
		for at := range in {
			if at+len(lines) <= len(in) && slices.Equal(in[at:at+len(lines)], lines) {
				want = append(want, at)
			}
		}
		if got := occurrences(in, lines); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// FuzzApply looks for a diff that panics, or whose edits are outside of the texts.
func FuzzApply(f *testing.F) {
	f.Add("a\nb\n", "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n")
	f.Add("", "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+c\n")
	f.Add("a\n", "--- a/x\n+++ b/x\n@@ -999999999,0 +1 @@\n+c\n@@ -0 +9 @@\n-a\n+b\n")
	f.Fuzz(func(t *testing.T, base, patch string) {
		files, err := gitdiff.Changes(patch)
		if err != nil {
			return
		}
		for _, file := range files {
			b := newText(base)
			head, edits, err := apply(b, file.Hunks)
			if err != nil {
				continue
			}
			removed, added := 0, 0
			for _, e := range edits {
				if e.base > e.end || e.end > len(b.lines) || e.headBase > e.headEnd || e.headEnd > len(head.lines) {
					t.Fatalf("the edits are %v", edits)
				}
				removed += e.end - e.base
				added += e.headEnd - e.headBase
			}
			if len(b.lines)-removed+added != len(head.lines) {
				t.Fatalf("%d lines, %d removed, %d added, %d lines", len(b.lines), removed, added, len(head.lines))
			}
		}
	})
}
