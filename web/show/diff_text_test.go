package show

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// marked writes spans with what is the text's own in brackets.
func marked(spans []Span) string {
	var b strings.Builder
	for _, s := range spans {
		if s.Own {
			b.WriteString("[" + s.Text + "]")
		} else {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

func TestWordsThatTheOtherTextLacksAreMarked(t *testing.T) {
	for _, c := range []struct{ name, a, b, x, y string }{
		{"the same", "ls -la", "ls -la", "ls -la", "ls -la"},
		{"an argument", "grep -rn total src/", "grep -rn total tests/", "grep -rn total [src]/", "grep -rn total [tests]/"},
		{"a word more", "pytest tests -q", "pytest tests", "pytest tests[ -q]", "pytest tests"},
		{"neighbours are one mark", "sed -n 10 fields.py", "sed -n 20 schema.py", "sed -n [10 fields].py", "sed -n [20 schema].py"},
		{"nothing alike", "ls -la /tmp", "python -m pytest", "[ls -la /tmp]", "[python -m pytest]"},
		{"one is empty", "", "ls", "", "[ls]"},
		{"other letters than English ones", "übung eins größe", "übung zwei größe", "übung [eins] größe", "übung [zwei] größe"},
		{"an accent of its own", "cafe\u0301 au lait", "cafe au lait", "[cafe\u0301] au lait", "[cafe] au lait"},
		{"half a surrogate pair", "name \xed\xa0\x80x same", "name \xed\xa0\x81x same", "name [\xed\xa0\x80]x same", "name [\xed\xa0\x81]x same"},
	} {
		x, y, by := compareTexts(c.a, c.b)
		if marked(x) != c.x || marked(y) != c.y || by != byWords {
			t.Errorf("%s: %q and %q, want %q and %q", c.name, marked(x), marked(y), c.x, c.y)
		}
	}
}

func TestWhatIsTooLongIsComparedMoreCoarsely(t *testing.T) {
	middle := func(n int, line, word string) string {
		return "first\n" + strings.Repeat(line, n) + word + "\n" + strings.Repeat(line, n) + "last\n"
	}
	for _, c := range []struct {
		name, line string
		n          int
		want       fineness
	}{
		{"words", "one two\n", 100, byWords},
		{"lines", "one two three four five six\n", 2000, byLines},
		{"ends for many lines", "x\n", 40_000, byEnds},
		{"ends for many bytes", strings.Repeat("x", 1000) + "\n", 2500, byEnds},
	} {
		a, b := middle(c.n, c.line, "the old way"), middle(c.n, c.line, "the new way")
		x, y, by := compareTexts(a, b)
		if by != c.want {
			t.Errorf("%s: compared by %d, want %d", c.name, by, c.want)
		}
		if len(x) != 3 || !strings.Contains(x[1].Text, "old") || !strings.Contains(y[1].Text, "new") || len(x[1].Text) > 20 {
			t.Errorf("%s: %d spans", c.name, len(x))
		}
		check(t, a, b, x, y)
	}
}

// check says what must hold of any two texts: the spans are the text, and what is not
// marked is the same in both.
func check(t interface{ Errorf(string, ...any) }, a, b string, x, y []Span) {
	join := func(spans []Span) (all, common string) {
		for _, s := range spans {
			if all += s.Text; !s.Own {
				common += s.Text
			}
		}
		return all, common
	}
	allX, commonX := join(x)
	allY, commonY := join(y)
	if allX != a || allY != b {
		t.Errorf("the spans of %.50q and %.50q are not the texts", a, b)
	}
	if commonX != commonY {
		t.Errorf("what %.50q and %.50q have in common differs: %.50q, %.50q", a, b, commonX, commonY)
	}
}

func TestSpansAreTheTextAndWhatIsNotMarkedIsCommon(t *testing.T) {
	texts := rapid.Custom(func(t *rapid.T) string {
		piece := rapid.OneOf(rapid.SampledFrom([]string{"a", "b", "word", " ", "  ", "\n", "-", "\xed\xa0\x80", "\xff", "ü", "\x1b[1m"}), rapid.String())
		return strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "pieces"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts.Draw(t, "a"), texts.Draw(t, "b")
		x, y, _ := compareTexts(a, b)
		check(t, a, b, x, y)
		x, y = compareEnds(a, b)
		check(t, a, b, x, y)
		x, y = compareTokens(linesOf(a), linesOf(b))
		check(t, a, b, x, y)
	})
}

func BenchmarkCompareTexts(b *testing.B) {
	long := strings.Repeat("alpha beta gamma delta\n", 1800)
	other := strings.Repeat("delta alpha epsilon beta\n", 1800)
	for b.Loop() {
		compareTexts(long, other)
	}
}
