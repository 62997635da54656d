package localise

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"relabel/codeindex"
	"relabel/gitdiff"
)

// edits are those of git's diff of two texts.
func edits(t testing.TB, base, head string) []edit {
	t.Helper()
	if base == head {
		return nil
	}
	files, err := gitdiff.Changes(diff(t, base, head))
	must(t, err)
	got, edits, err := apply(newText(base), files[0].Hunks)
	must(t, err)
	if got.String() != head {
		t.Fatalf("applied is %q, not %q", got.String(), head)
	}
	return edits
}

const pythonBase = `import os
# A comment.
LIMIT = 1


@cache
def first(a):
    """Say it."""
    # why
    b = a

    return b


class Box(Base):
    size = 1

    def open(self):
        def inner():
            return 1

        return inner()

    @property
    def lid(self):
        return 1

    @lid.setter
    def lid(self, v):
        self.v = v


def last():
    return """
# text
"""
`

// TestThePythonRules changes one text for another and says which functions are gold; ! means that the
// file is none either.
func TestThePythonRules(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"a line":                       {"    b = a\n", "    b = a + 1\n", "first"},
		"a removed line":               {"    b = a\n", "", "first"},
		"a decorator":                  {"@cache\n", "@lru_cache\n", "first"},
		"an added decorator":           {"def last():", "@cache\ndef last():", "last"},
		"a docstring":                  {`"""Say it."""`, `"""Say that."""`, "first"},
		"an added docstring":           {"def last():\n", "def last():\n    \"\"\"Last.\"\"\"\n", "last"},
		"a comment":                    {"    # why\n", "    # because\n", "!"},
		"a removed comment":            {"    # why\n", "", "!"},
		"an added comment":             {"    b = a\n", "    # then\n    b = a\n", "!"},
		"a blank line":                 {"    b = a\n\n", "    b = a\n", "!"},
		"added blank lines":            {"    b = a\n", "    b = a\n\n \t\n", "!"},
		"a comment becomes code":       {"    # why\n", "    why()\n", "first"},
		"code becomes a comment":       {"    b = a\n", "    # b = a\n", "first"},
		"a comment behind code":        {"    b = a\n", "    b = a  # b\n", "first"},
		"a hash in a string":           {"\n# text\n", "\n# words\n", "last"},
		"a comment in a module":        {"# A comment.\n", "", "!"},
		"an import":                    {"import os\n", "import sys\n", ""},
		"an added import":              {"import os\n", "import os\nimport sys\n", ""},
		"a class attribute":            {"    size = 1\n", "    size = 2\n", ""},
		"an added class attribute":     {"    size = 1\n", "    size = 1\n    more = 2\n", ""},
		"the head of a class":          {"class Box(Base):", "class Box(Other):", ""},
		"a method":                     {"        self.v = v\n", "        self.v = 1\n", "Box.lid"},
		"one of two of a name":         {"    def lid(self):\n        return 1", "    def lid(self):\n        return 2", "Box.lid"},
		"a nested function":            {"            return 1\n", "            return 2\n", "Box.open.inner"},
		"around a nested function":     {"        return inner()\n", "        return inner() + 1\n", "Box.open"},
		"a line at a function's end":   {"    return b\n", "    return b\n    more()\n", "first"},
		"a line at a method's end":     {"        self.v = v\n", "        self.v = v\n        self.w = v\n", "Box.lid"},
		"a line at the end of a file":  {"# text\n\"\"\"\n", "# text\n\"\"\"\n    more()\n", "last"},
		"an added function":            {"\n\nclass Box", "\n\ndef added():\n    return 1\n\n\nclass Box", ""},
		"an added method":              {"    @property\n", "    def added(self):\n        return 1\n\n    @property\n", ""},
		"an added nested function":     {"        return inner()\n", "        def second():\n            return 2\n\n        return inner()\n", "Box.open"},
		"an added function and a line": {"    return b\n", "    more()\n    return b\n\n\ndef added():\n    return 1\n", "first"},
		"a renamed function":           {"def first(a):", "def second(a):", "first"},
		"a renamed class":              {"class Box(Base):", "class Crate(Base):", ""},
		"a line in a renamed class":    {"class Box(Base):\n    size = 1\n\n    def open(self):\n", "class Crate(Base):\n    size = 1\n\n    def open(self):\n        more()\n", "Box.open"},
		"a removed function":           {"def last():\n    return \"\"\"\n# text\n\"\"\"\n", "", "last"},
		"module code at the end":       {"# text\n\"\"\"\n", "# text\n\"\"\"\n\n\nmain()\n", ""},
		"a function is cut":            {"    b = a\n", "    b = a\n\n\ndef rest(b):\n", "first"},
		"nothing parses afterwards":    {"def last():\n", "def last(:\n    more()\n", "last"},
		"another indent":               {"    b = a\n", "        b = a\n", "first"},
	} {
		if strings.Count(pythonBase, c.old) != 1 {
			t.Fatalf("%s: the text is there %d times", name, strings.Count(pythonBase, c.old))
		}
		head := strings.Replace(pythonBase, c.old, c.new, 1)
		if got := goldOf(t, codeindex.Python, pythonBase, head); got != c.want {
			t.Errorf("%s: %q, not %q\n%s", name, got, c.want, diff(t, pythonBase, head))
		}
		crlf := strings.NewReplacer("\n", "\r\n")
		if got := goldOf(t, codeindex.Python, crlf.Replace(pythonBase), crlf.Replace(head)); got != c.want {
			t.Errorf("%s, with CRLF: %q, not %q", name, got, c.want)
		}
	}
}

func TestTheGoRules(t *testing.T) {
	base := "package a\n\n// F says it.\n//\n//go:noinline\nfunc F() int {\n\t/* one\n\ttwo */\n\treturn 1\n}\n\ntype T struct {\n\ta int\n}\n\nfunc (t *T) M() string {\n\treturn `\n// text\n`\n}\n"
	for name, c := range map[string]struct{ old, new, want string }{
		"a line":                  {"return 1", "return 2", "F"},
		"documentation":           {"F says it", "F says that", "!"},
		"a line of a block":       {"\ttwo */", "\tthree */", "!"},
		"code behind a block":     {"\ttwo */", "\ttwo */ f()", "F"},
		"a field":                 {"\ta int\n", "\ta, b int\n", ""},
		"slashes in a raw string": {"\n// text\n", "\n// words\n", "T.M"},
		"a parameter":             {"M() string", "M(a int) string", "T.M"},
		"an added method":         {"func (t *T) M", "func (t *T) N() {}\n\nfunc (t *T) M", ""},
		"a line at the end":       {"`\n}\n", "`\n\tf()\n}\n", "T.M"},
	} {
		head := strings.Replace(base, c.old, c.new, 1)
		if got := goldOf(t, codeindex.Go, base, head); got != c.want || head == base {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}

// TestLinesOfPythonEndWithCarriageReturnsToo has a line of git with three lines of Python.
func TestLinesOfPythonEndWithCarriageReturnsToo(t *testing.T) {
	base := "a = 1\rb = 2\rc = 3\ndef f():\n    return 1\n\ndef g():\n    return 1\n"
	if got := goldOf(t, codeindex.Python, base, strings.Replace(base, "f():\n    return 1", "f():\n    return 2", 1)); got != "f" {
		t.Errorf("got %q", got)
	}
	if got := goldOf(t, codeindex.Python, base, strings.Replace(base, "c = 3", "c = 4", 1)); got != "" {
		t.Errorf("got %q", got)
	}
}

// TestFunctionsOnOneLineAreToldByTheirNames has spans as JavaScript has them.
func TestFunctionsOnOneLineAreToldByTheirNames(t *testing.T) {
	function := func(name string, start, end int) codeindex.Definition {
		return codeindex.Definition{Kind: codeindex.Function, Name: name, Span: codeindex.Span{Start: start, End: end}}
	}
	s := side{functions: []codeindex.Definition{function("a", 1, 1), function("a.b", 1, 1), function("c", 1, 1), function("d", 1, 4), function("e", 4, 9)}}
	for line, want := range map[int]string{1: "a.b c", 2: "d", 4: "d e", 9: "e", 10: ""} {
		var names []string
		for _, d := range s.innermost(codeindex.Span{Start: line, End: line}) {
			names = append(names, d.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("line %d: %q, not %q", line, got, want)
		}
	}
}

func TestFilesOfTestsAreKnownByTheirPaths(t *testing.T) {
	for path, want := range map[string]bool{
		"test/a.py": true, "a/tests/b/c.go": true, "testing/a.py": true, "src/spec/a.rb": true, "src/__tests__/a.ts": true,
		"a/test_b.py": true, "b_test.py": true, "b_test.go": true, "a.test.ts": true, "a.spec.js": true, "src/BoxTest.java": true, "conftest.py": true, "a/conftest.py": true,
		"tests.py": false, "testers/a.py": false, "latest/a.py": false, "test_b.go": false, "b_test.rs": false, "a_spec.rb": false, "Test.py": false,
		"contest.py": false, "attest.py": false, "Tests/a.py": false, "a.tests.ts": false, "BoxTests.java": false, "specs/a.rb": false,
	} {
		if IsTest(path) != want {
			t.Errorf("%s is %v", path, !want)
		}
	}
}

// TestManyFunctionsOfOneLineAreComparedSoon would take minutes if each were compared with each.
func TestManyFunctionsOfOneLineAreComparedSoon(t *testing.T) {
	const n = 60_000
	var all []codeindex.Definition
	for i := range n {
		name := "f" + strconv.Itoa(i)
		all = append(all, codeindex.Definition{Kind: codeindex.Function, Name: name, Span: codeindex.Span{Start: 3, End: 3}},
			codeindex.Definition{Kind: codeindex.Function, Name: name + ".g", Span: codeindex.Span{Start: 3, End: 3}})
	}
	all = append(all, codeindex.Definition{Kind: codeindex.Function, Name: "h", Span: codeindex.Span{Start: 1, End: 9}})
	begun := time.Now()
	inner := withoutOuter(all)
	if len(inner) != n || !strings.HasSuffix(inner[0].Name, ".g") {
		t.Errorf("%d functions, the first is %v", len(inner), inner[0])
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}
