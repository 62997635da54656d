package jinja

import (
	"os"
	"strings"
	"testing"
)

// caseVariables are the variables of the cases in testdata/cases.txt.
const caseVariables = `{"s": "héllo wörld", "n": 7, "f": 2.5, "t": true, "no": null, "l": [3, 1, 2], "e": [], "d": {"b": 1, "a": "x", "items": 5},
 "msgs": [{"role": "user", "content": "Hi <b>"}, {"role": "assistant", "content": "", "tool_calls": [{"name": "f", "arguments": {"z": 1e5, "a": [1.0, null, true]}}]}],
 "big": 123456789012345678901234567890, "neg": -0.0, "nan": NaN, "esc": "a'b\"c\\d\n\u200b\ud800é", "ws": "  a\u00a0b\t\n", "words": ["b", "A", "c", "a"],
 "tree": [{"v": 1, "k": [{"v": 2, "k": []}, {"v": 3, "k": [{"v": 4, "k": []}]}]}], "nested": {"x": {"y": [1, {"z": 2}]}}}`

// Each line of cases.txt is a template; \n and \\ stand for a newline and a backslash.
func TestCasesRenderAsInJinja2(t *testing.T) {
	ref := newReference(t)
	raw, err := os.ReadFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		mayRefuse := strings.HasPrefix(line, "?")
		source := strings.NewReplacer(`\\`, `\`, `\n`, "\n").Replace(strings.TrimPrefix(line, "?"))
		want := ref.render(t, source, caseVariables, false)
		got, err := ours(source, caseVariables, false)
		if d := difference(want, got, err, mayRefuse); d != "" {
			t.Errorf("%s\n%s", line, d)
		}
		n++
	}
	if n < 240 {
		t.Errorf("only %d cases", n)
	}
}
