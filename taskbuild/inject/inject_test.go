package inject

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/codeindex"
	"relabel/taskbuild"
)

// replaced returns what the parts of a kind with a text become.
func replaced(l codeindex.Language, kind codeindex.PartKind, source, part string) (now []string) {
	at := strings.Index(source, part)
	f := file{language: l, source: []byte(source)}
	for _, r := range replacements(f, codeindex.Part{Kind: kind, Bytes: codeindex.Bytes{Start: at, End: at + len(part)}}) {
		now = append(now, string(r.kind)+": "+string(Mutation{Edits: r.edits}.apply(f.source)))
	}
	return now
}

func TestPartsBecomeBugs(t *testing.T) {
	for _, c := range []struct {
		language     codeindex.Language
		kind         codeindex.PartKind
		source, part string
		want         []string
	}{
		{codeindex.Python, codeindex.Operator, "a  not   in b", "not   in", []string{"operator: a  in b"}},
		{codeindex.Python, codeindex.Operator, "a <= b", "<=", []string{"boundary: a < b", "operator: a >= b"}},
		{codeindex.Python, codeindex.Operator, "a && b", "&&", nil},
		{codeindex.Go, codeindex.Operator, "a && b", "&&", []string{"operator: a || b"}},
		{codeindex.Go, codeindex.Operator, "a := b", ":=", nil},
		{codeindex.TypeScript, codeindex.Operator, "a === b", "===", []string{"operator: a !== b"}},
		{codeindex.Python, codeindex.Condition, "if a or b:", "a or b", []string{"condition: if not (a or b):"}},
		{codeindex.Go, codeindex.Condition, "if a {", "a", []string{"condition: if !(a) {"}},
		{codeindex.Python, codeindex.Condition, "while True:", "True", nil},
		{codeindex.Python, codeindex.Boolean, "f(True)", "True", []string{"condition: f(False)"}},
		{codeindex.Go, codeindex.Number, "f(1)", "1", []string{"boundary: f(2)", "boundary: f(0)"}},
		{codeindex.Go, codeindex.Number, "f(0)", "0", []string{"boundary: f(1)"}},
		{codeindex.Go, codeindex.Number, "f(0x1f)", "0x1f", nil},
		{codeindex.Go, codeindex.Statement, "{\n\tf()\n\tg()\n}", "f()", []string{"removed line: {\n\tg()\n}"}},
		{codeindex.Go, codeindex.Statement, "{ f() }", "f()", []string{"removed line: {  }"}},
		{codeindex.Python, codeindex.Statement, "f(); g()", "f()", nil},
	} {
		if got := replaced(c.language, c.kind, c.source, c.part); !slices.Equal(got, c.want) {
			t.Errorf("%s %s in %q: %q, want %q", c.language, c.kind, c.source, got, c.want)
		}
	}
	alone := codeindex.Part{Kind: codeindex.Statement, Bytes: codeindex.Bytes{Start: 10, End: 13}, Alone: true}
	if got := replacements(file{language: codeindex.Python, source: []byte("if a:\n    f()\n")}, alone); got[0].edits[0].Now != "pass" {
		t.Errorf("the only statement of a block becomes %q", got[0].edits[0].Now)
	}
	source := []byte("f(a, bb)")
	swap := codeindex.Part{Kind: codeindex.Arguments, Bytes: codeindex.Bytes{Start: 2, End: 3}, Next: &codeindex.Bytes{Start: 5, End: 7}}
	if got := replacements(file{source: source}, swap); string(Mutation{Edits: got[0].edits}.apply(source)) != "f(bb, a)" {
		t.Errorf("swapped arguments: %+v", got)
	}
}

// possible are bugs in functions of one file, each at its own place.
func possible(functions, each int) (all []Mutation) {
	kinds := []Kind{KindOperator, KindBoundary, KindCondition, KindRemoved}
	for f := range functions {
		for i := range each {
			at := 1000*f + 10*i
			all = append(all, Mutation{Path: "a.py", Function: fmt.Sprint("f", f), Kind: kinds[i%len(kinds)], start: f,
				Edits: []Edit{{Bytes: codeindex.Bytes{Start: at, End: at + 5}}}})
		}
	}
	return all
}

func TestADrawIsSpreadOverFunctionsAndKinds(t *testing.T) {
	drawn := draw(possible(20, 8), 30, 2, 7)
	functions, kinds := map[string]int{}, map[Kind]int{}
	for _, m := range drawn {
		functions[m.Function]++
		kinds[m.Kind]++
	}
	if len(drawn) != 30 || len(functions) != 20 || slices.Max(slices.Collect(maps.Values(functions))) != 2 {
		t.Errorf("%d bugs in %v", len(drawn), functions)
	}
	if len(kinds) != 4 || slices.Min(slices.Collect(maps.Values(kinds))) < 7 {
		t.Errorf("kinds %v", kinds)
	}
	if all := draw(possible(20, 8), 1000, 3, 7); len(all) != 60 {
		t.Errorf("%d bugs, 3 in each of 20 functions", len(all))
	}
	if same := draw(possible(20, 8), 30, 2, 7); fmt.Sprint(same) != fmt.Sprint(drawn) {
		t.Error("the same seed draws other bugs")
	}
	if other := draw(possible(20, 8), 30, 2, 8); fmt.Sprint(other) == fmt.Sprint(drawn) {
		t.Error("another seed draws the same bugs")
	}
}

func TestADrawNeverChangesTheSameCodeTwice(t *testing.T) {
	all := possible(1, 2)
	all[1].Edits = []Edit{{Bytes: codeindex.Bytes{Start: 4, End: 9}}}
	if drawn := draw(all, 10, 10, 1); len(drawn) != 1 {
		t.Errorf("%d bugs at one place", len(drawn))
	}
}

func TestARunWithABugIsJudgedByTheTestsThatItLoses(t *testing.T) {
	before := &passing{Passed: []string{"a", "b", "c"}}
	const ok, bad = relabel.TestPassed, relabel.TestFailed
	for name, c := range map[string]struct {
		run  taskbuild.TestRun
		want taskbuild.Reason
	}{
		"one fails":     {taskbuild.TestRun{Tests: map[string]relabel.TestStatus{"a": ok, "b": bad, "c": ok}}, ""},
		"none fails":    {taskbuild.TestRun{Tests: map[string]relabel.TestStatus{"a": ok, "b": ok, "c": ok}}, taskbuild.ReasonUnnoticed},
		"all fail":      {taskbuild.TestRun{Tests: map[string]relabel.TestStatus{"a": bad, "b": bad, "c": bad}}, taskbuild.ReasonAllFail},
		"none compiles": {taskbuild.TestRun{Tests: map[string]relabel.TestStatus{"a": ok}}, taskbuild.ReasonDoesNotRun},
		"never ends":    {taskbuild.TestRun{TimedOut: true}, taskbuild.ReasonNeverEnds},
		"no container":  {taskbuild.TestRun{Problem: "it died"}, taskbuild.ReasonInfrastructure},
	} {
		got := judge(c.run, before)
		if got.Reason != c.want || (c.want == "") != (len(got.Failing) > 0) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestStepsTellTheirNumbersBeforeTheyRun(t *testing.T) {
	source := "function f() { a(); return (x) => x + 1; }"
	at := func(text string, value bool) codeindex.Step {
		i := strings.Index(source, text)
		return codeindex.Step{Bytes: codeindex.Bytes{Start: i, End: i + len(text)}, Value: value}
	}
	steps := []codeindex.Step{at("a();", false), at("return (x) => x + 1;", false), at("x + 1", true)}
	const want = "function f() { process.__relabelExecuted?.(7);\na(); process.__relabelExecuted?.(8);\nreturn (x) => (process.__relabelExecuted?.(9), x + 1); }"
	if got := strings.ReplaceAll(string(telling([]byte(source), steps, 7)), "// @ts-ignore\n", ""); got != want {
		t.Errorf("%s", got)
	}
}

func TestNotesSurviveACrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes")
	n, err := openNotes(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.add("a", tried{Detail: "first"}); err != nil {
		t.Fatal(err)
	}
	if err := n.close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(whole, `{"key":"b","resu`...), 0o644); err != nil {
		t.Fatal(err)
	}
	if n, err = openNotes(path); err != nil {
		t.Fatal(err)
	}
	defer n.close()
	var got tried
	if !n.find("a", &got) || got.Detail != "first" || n.find("b", &got) {
		t.Errorf("found %+v", got)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(whole) {
		t.Errorf("the file is %q, %v", now, err)
	}
}

func TestFilesOfOthersGetNoBug(t *testing.T) {
	for _, name := range []string{"vendor/a/b.go", "a/node_modules/b.js", "dist/a.js", "a.min.js", "a.d.ts", "a_pb2.py", "a/testdata/b.go"} {
		if !others.MatchString(name) {
			t.Errorf("%s is the repository's own", name)
		}
	}
	for _, name := range []string{"a.go", "vendors/a.py", "src/distance/a.js", "admin.js"} {
		if others.MatchString(name) {
			t.Errorf("%s is not the repository's own", name)
		}
	}
	generated := file{source: []byte("// Code generated by a program. DO NOT EDIT.\npackage a\n")}
	if generated.unfit() == "" || (file{source: []byte("package a\n")}).unfit() != "" {
		t.Error("generated files are not recognised by their mark")
	}
}
