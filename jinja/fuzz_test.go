package jinja

import (
	"os"
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// openRefusals are what we say where we do not do what Jinja2 may do: the fuzzers let it
// pass, all else must be equal.
var openRefusals = regexp.MustCompile(`not supported|its output is random|differs between runs in Python|too large|block gives a value of type|unknown (function|method|filter|test)`)

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

// rounds times rapid's own number of checks (100 unless -rapid.checks tells) are made, each
// time others; -rapid.seed makes them again. RELABEL_TEST_ALL takes ten times as many.
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
