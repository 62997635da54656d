package languages_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"relabel/codeindex"
	"relabel/codeindex/languages/languagestest"
)

const typeScriptSource = `const n = 5 + 1;
class A extends B {
  n = 5 + 1;
  constructor(a: number) { super(a); this.x = a + 1; }
  get(k: string, d = 3): 7 | undefined {
    'use strict';
    if (k === 'a' && d < 10) { return this.m.get(k, d) ?? 0; }
    for (let i = 0; i <= d; i++) { if (!k) continue; this.x += i; }
    const f = (q: number) => q > 3 ? true : false;
    switch (d - 1) { case 1: d++; break; default: log("a" + k, d); }
  }
}
`

var typeScriptParts = []string{
	"4 statement `this.x = a + 1;`", "4 operator `=`", "4 operator `+`", "4 number `1`",
	"7 statement `if (k === 'a' && d < 10) { return this.m.get(k, d) ?? 0; }`", "7 condition `k === 'a' && d < 10`",
	"7 operator `&&`", "7 operator `===`", "7 operator `<`", "7 number `10`",
	"7 statement `return this.m.get(k, d) ?? 0;`", "7 operator `??`", "7 arguments `k` `d`", "7 number `0`",
	"8 condition `i <= d`", "8 number `0`", "8 operator `<=`", "8 operator `++`",
	"8 statement `if (!k) continue;`", "8 condition `!k`", "8 statement `this.x += i;`", "8 operator `+=`",
	"9 condition `q > 3`", "9 operator `>`", "9 number `3`", "9 boolean `true`", "9 boolean `false`",
	"10 operator `-`", "10 number `1`", "10 number `1`",
	"10 statement `d++;`", "10 operator `++`", "10 statement `break;`", "10 statement `log(\"a\" + k, d);`", "10 arguments `\"a\" + k` `d`",
}

const goSource = `package a

var n = 5 + 1

func (a *A) get(k string, d int) ([3]int, error) {
	if x := f(k, d); x != nil && d < 10 {
		return [3]int{}, x
	}
	for i := 0; i <= d; i++ {
		a.x += i
		continue
	}
	switch {
	case d > 1:
		a.x--
	default:
		func() { log("a" + k) }()
	}
	b := true
	return a.y, nil
}
`

var goParts = []string{
	"6 statement `if x := f(k, d); x != nil && d < 10 {\n\t\treturn [3]int{}, x\n\t}`", "6 condition `x != nil && d < 10`", "6 operator `:=`",
	"6 arguments `k` `d`", "6 operator `&&`", "6 operator `!=`", "6 operator `<`", "6 number `10`",
	"9 condition `i <= d`", "9 operator `:=`", "9 number `0`", "9 operator `<=`", "9 operator `++`",
	"10 statement `a.x += i`", "10 operator `+=`", "11 statement `continue`",
	"13 operator `>`", "13 number `1`", "15 statement `a.x--`", "15 operator `--`",
	"17 statement `func() { log(\"a\" + k) }()`", "17 statement `log(\"a\" + k)`",
	"19 operator `:=`", "19 boolean `true`",
}

// describe writes parts one a line, with the line of their step.
func describe(p codeindex.Parts, source string) (all []string) {
	for _, part := range p.Parts {
		text := fmt.Sprintf("%d %s `%s`", p.Steps[part.Step].Line, part.Kind, source[part.Start:part.End])
		if part.Next != nil {
			text += fmt.Sprintf(" `%s`", source[part.Next.Start:part.Next.End])
		}
		all = append(all, text)
	}
	return all
}

func TestFunctionsHaveTheirParts(t *testing.T) {
	parsers := languagestest.Parsers(t)
	for _, c := range []struct {
		name, source string
		want         []string
	}{{"a.ts", typeScriptSource, typeScriptParts}, {"a.go", goSource, goParts}} {
		parts := parsers.Parts(c.name, []byte(c.source))
		if parts.Problem != "" {
			t.Errorf("%s has the problem %s", c.name, parts.Problem)
		}
		if got := describe(parts, c.source); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(c.want))) {
			t.Errorf("%s:\n%s\nwant:\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

func TestATreeChangesWithTheCodeOnly(t *testing.T) {
	parsers := languagestest.Parsers(t)
	for name, source := range map[string]string{"a.ts": typeScriptSource, "a.js": "function f(a) { return a++ <= -1 }", "a.go": goSource} {
		tree := parsers.Parts(name, []byte(source)).Tree
		same := strings.ReplaceAll(source, "{", "{ // a comment\n")
		if got := parsers.Parts(name, []byte(same)); got.Tree != tree {
			t.Errorf("%s: a comment changes the tree (problem %q)", name, got.Problem)
		}
		for _, edit := range [][2]string{{"<=", "<"}, {"++", "--"}, {"1", "2"}} {
			other := strings.Replace(source, edit[0], edit[1], 1)
			if got := parsers.Parts(name, []byte(other)); got.Tree == tree || got.Problem != "" {
				t.Errorf("%s: %s for %s does not change the tree (problem %q)", name, edit[1], edit[0], got.Problem)
			}
		}
	}
}

func TestFilesThatDoNotParseHaveNoParts(t *testing.T) {
	parsers := languagestest.Parsers(t)
	for name, want := range map[string]codeindex.Problem{"a.js": codeindex.Syntax, "a.go": codeindex.Syntax, "a.py": codeindex.NoParser, "a": codeindex.NoParser} {
		if got := parsers.Parts(name, []byte("if (")); got.Problem != want || len(got.Parts) > 0 {
			t.Errorf("%s: problem %q with %d parts, not %q", name, got.Problem, len(got.Parts), want)
		}
	}
	deep := strings.Repeat("(", 1<<20)
	if got := parsers.Parts("a.js", []byte(deep)); got.Problem == "" {
		t.Error("deep nesting has no problem")
	}
}
