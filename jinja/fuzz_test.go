package jinja

import (
	"os"
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// openRefusals match errors for features of Jinja2 that this package refuses; the fuzz tests accept
// them. All other results must be equal.
var openRefusals = regexp.MustCompile(`not supported|its output is random|differs between runs in Python|too large|unknown (function|method|filter|test)`)

func compareWithReference(t *rapid.T, tb testing.TB, ref *reference, source string) {
	want := ref.render(tb, source, caseVariables, false)
	got, err := ours(source, caseVariables, false)
	mayRefuse := err != nil && openRefusals.MatchString(err.Error())
	if mayRefuse && want.raised {
		return
	}
	if d := difference(want, got, err, mayRefuse); d != "" {
		t.Fatalf("%s\n%s", source, d)
	}
}

// rounds is how often a test runs rapid's checks (100, or -rapid.checks), with other random values each
// time; -rapid.seed repeats them. RELABEL_TEST_ALL multiplies it by ten.
func rounds() int {
	if os.Getenv("RELABEL_TEST_ALL") != "" {
		return 20
	}
	return 2
}

func checkOften(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	for range rounds() {
		if rapid.Check(t, property); t.Failed() {
			return
		}
	}
}

func TestAnyExpressionEvaluatesAsInJinja2(t *testing.T) {
	ref := newReference(t)
	checkOften(t, func(rt *rapid.T) {
		g := newGrammar(rt)
		compareWithReference(rt, t, ref, "{{ "+g.expr(rapid.IntRange(1, 4).Draw(rt, "depth"))+" }}")
	})
}

func TestAnyTemplateRendersAsInJinja2(t *testing.T) {
	ref := newReference(t)
	checkOften(t, func(rt *rapid.T) {
		g := newGrammar(rt)
		compareWithReference(rt, t, ref, g.body(rapid.IntRange(1, 3).Draw(rt, "depth")))
	})
}
