package jinja

import (
	"slices"
	"strings"
	"testing"
)

// changedInUnicode15 are letters that became lower case, and new format characters, in the version of
// Unicode after Python's.
var changedInUnicode15 = []rune{0x10FC, 0xA7F2, 0xA7F3, 0xA7F4, 0xAB69, 0x13439, 0x1343A, 0x1343B, 0x1343C, 0x1343D, 0x1343E, 0x1343F}

// characterQuestions are rendered for every character. The first is its repr, which depends on whether
// the character is printable.
var characterQuestions = []string{
	"[c]", "('aΣ' ~ c ~ 'b').upper()", "('aΣ' ~ c ~ 'b').lower()", "('aΣ' ~ c ~ 'b').title()", "c.capitalize()",
	"('a' ~ c ~ 'b').split()", "('a' ~ c ~ 'b').splitlines()", "c.strip()|length", "c|int(7)", "c|tojson(true)", "c|title",
}

func TestCharactersAreThoseOfPython(t *testing.T) {
	ref := newReference(t)
	source := "{% for c in s %}"
	for _, q := range characterQuestions {
		source += "{{ [" + q + "] }}|"
	}
	source += "\n{% endfor %}"
	known := 0
	var blocks []rune
	for start := rune(0x3000); start < 0x32000; start += 0x400 {
		blocks = append(blocks, start)
	}
	blocks = append(sample(blocks, 8, 0), 0, 0x400, 0x800, 0xC00, 0x1000, 0x1400, 0x1800, 0x1C00, 0x2000, 0x2400, 0x2800, 0x2C00)
	for _, start := range blocks {
		var all []rune
		for c := start; c < start+0x400; c++ {
			all = append(all, c)
		}
		variables := string(appendJSONText([]byte(`{"s": `), fromRunes(all), true)) + "}"
		want := ref.render(t, source, variables, false)
		got, err := ours(source, variables, false)
		if err != nil || want.failed {
			t.Fatalf("U+%04X: %v, %v", start, err, want.err)
		}
		g, w := strings.Split(got, "\n"), strings.Split(want.text, "\n")
		for i, c := range all {
			ours, _, _ := strings.Cut(g[i], "|")
			theirs, _, _ := strings.Cut(w[i], "|")
			if ours != theirs || slices.Contains(changedInUnicode15, c) {
				continue // newer than Python's Unicode
			}
			known++
			if g[i] != w[i] {
				t.Errorf("U+%04X: %q, in Python %q", c, g[i], w[i])
			}
		}
	}
	if known < len(blocks)*0x400*9/10 {
		t.Errorf("only %d characters were compared", known)
	}
}
