package python

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relabel/codeindex"
)

func TestDefinitions(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		want   []string
	}{
		"nested":      {"class A:\n    def f(self):\n        def g():\n            pass\n        return g\n    class B: pass\n\nx = 1\n", []string{"class A 1-6", "method A.f 2-5", "function A.f.g 3-4", "class A.B 6-6"}},
		"decorators":  {"@a\n@b(\n  1)\n# c\nasync def f():\n  pass\n\n# after\n", []string{"function f 1-6"}},
		"conditional": {"class A:\n  if x:\n    def f(self): pass\n  else:\n    try:\n      def f(self): pass\n    except E: pass\n", []string{"class A 1-7", "method A.f 3-3", "method A.f 6-6"}},
		"one line":    {"def f(): return x[1:]; y = 2; \\\n  z\ndef g(a=lambda: 1) -> lambda: 2: pass\n", []string{"function f 1-2", "function g 3-3"}},
		"soft words":  {"match = case = type = 1\nmatch(x)\nmatch x:\n  case [A() as a, *_] if a:\n    def f(): pass\ntype X[T] = T\ndef type(): pass\nclass case[*T]: pass\n", []string{"function f 5-5", "function type 7-7", "class case 8-8"}},
		"type names":  {"def f[T: (int, str), **P](a: T) -> T: ...\nclass A[T = int](B): ...\n", []string{"function f 1-1", "class A 2-2"}},
		"form feed":   {"x = 1\f\n\f\ndef f():\n\f x = 1\ndef g():\n  \f    pass\n  # after\n", []string{"function f 3-4", "function g 5-6"}},
		"line ends":   {"def f():\r\n\tpass\r\rdef g():\r\tx = '''\r\n\r'''\n", []string{"function f 1-2", "function g 4-7"}},
		"tabs":        {"class A:\n\tdef f(self):\n\t  pass\n\tdef g(self):\n\t\tpass", []string{"class A 1-5", "method A.f 2-3", "method A.g 4-5"}},
		"continued":   {"def \\\n  f(\n a): \\\n  pass\nclass A: x = 1 \\\n\ndef g(): pass\n", []string{"function f 1-4", "class A 5-5", "function g 7-7"}},
		"strings":     {"def f():\n  return rb'\\'', 'def g(): pass\\\n' u\"\"\"\ndef h(): pass\n\"\" \\\"\"\"\"\ndef k(): pass\n", []string{"function f 1-5", "function k 6-6"}},
		"f-strings":   {"def f(): return f'{x['a']:{f\"{'}'}\"}}}}' rf'\\{y!r:>{z}}' f'\\N{DIGIT ONE}{{' f'''{\nx # }\n:\n}'''\ndef g(): pass\n", []string{"function f 1-4", "function g 5-5"}},
		"mark":        {"\ufeffdef f(): pass", []string{"function f 1-1"}},
		"cookie":      {"# -*- coding: latin-1 -*-\ndef f\xe9(): pass\n", []string{"function fé 2-2"}},
		"other":       {"#!/x\n# vim: set fileencoding=koi8-r :\ndef \xc1(): pass\n", []string{"function а 3-3"}},
		"old":         {"\n# coding=cp437\ndef \x82(): pass\n", []string{"function é 3-3"}},
		"normal form": {"def ﬁ(): pass\n", []string{"function fi 1-1"}},
		"imports":     {"import a; from . import (b,\n  c); x = 1\nif x: from a import b\ndef f():\n  import a, \\\n   b ; x\n", []string{"function f 4-6", "import 1-1", "import 1-2", "import 3-3", "import 5-6"}},
		"no imports":  {"raise A from B\ndef f():\n  yield from importer\n  'import x'\n", []string{"function f 2-4"}},
	} {
		got := Parser{}.Parse("", []byte(c.source))
		if a := lines(got); !slices.Equal(a, c.want) || got.Problem != "" {
			t.Errorf("%s: got %q with problem %q, want %q", name, a, got.Problem, c.want)
		}
	}
}

// TestBrokenFilesHaveTheirDefinitions checks the records of files with an error.
func TestBrokenFilesHaveTheirDefinitions(t *testing.T) {
	for name, source := range map[string]string{
		"bracket": "def f():\n  return (1,\n\ndef g():\n  pass\n",
		"string":  "def f():\n  return 'a\n\ndef g():\n  pass\n",
		"field":   "def f():\n  return f'{a\n\ndef g():\n  pass\n",
		"words":   "def f():\n  return return\n\ndef g():\n  pass\n",
		"header":  "def f(:\n  return 1\n\ndef g():\n  pass\n",
	} {
		got := Parser{}.Parse("", []byte(source))
		var names []string
		for _, d := range got.Definitions {
			names = append(names, d.Name)
		}
		if want := []string{"f", "g"}; !slices.Equal(names, want) || got.Problem != codeindex.Syntax {
			t.Errorf("%s: got %v with problem %q", name, names, got.Problem)
		}
	}
}

func TestFilesThatAreNotText(t *testing.T) {
	for _, source := range []string{"x = '\x00'", "x = '\xff'", "# coding: nothing\n", "# coding: ascii\nx = 'é'", "\ufeff# coding: latin-1\n"} {
		if got := (Parser{}).Parse("", []byte(source)).Problem; got != codeindex.NotText {
			t.Errorf("%q has the problem %q", source, got)
		}
	}
}

// TestParsingTakesLinearTime parses sources that are long or deep in each way.
func TestParsingTakesLinearTime(t *testing.T) {
	const size = 1 << 18
	for _, part := range []string{"(", "[", "{", "f'{", "f'{x:", "'", "'''", "f'''", "-", "not ", "a+", "a if b else ", "lambda:", "a.", "a[", "f(", "*", "await ",
		"\\\n", "@", "#", "\t", " ", "\f", "\r", "\x00", "\xff", "if x:\n ", "try:", "import a;", "x=", "match ", "print ", "`", "(\ndef ", "f'{\nclass ", "0", "1_", "\\", "'\\x'", "f'\\N{", "def f(): pass\n", "@a\n", "a:", "{a:"} {
		source := []byte(strings.Repeat(part, size/len(part)))
		began := time.Now()
		Parser{}.Parse("", source)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%q takes %s", part, took)
		}
	}
	nested := strings.Builder{}
	for depth := range 1 << 10 {
		nested.WriteString(strings.Repeat(" ", depth) + "def f():\n")
	}
	if got := (Parser{}).Parse("", []byte(nested.String())); got.Problem != codeindex.Syntax {
		t.Errorf("1024 indents have the problem %q", got.Problem)
	}
}

// TestLongNamesAreNotRepeated checks that records do not grow faster than the source.
func TestLongNamesAreNotRepeated(t *testing.T) {
	source := "class " + strings.Repeat("x", 1<<16) + ":\n" + strings.Repeat(" def a():pass\n", 1<<14)
	got := Parser{}.Parse("", []byte(source))
	total := 0
	for _, d := range got.Definitions {
		total += len(d.Name)
	}
	if total > 20*len(source) || got.Problem != codeindex.TooLarge {
		t.Errorf("%d bytes of names for %d of source, problem %q", total, len(source), got.Problem)
	}
}

func TestLongLinesTakeLittleMemory(t *testing.T) {
	got := Parser{}.Parse("", []byte("def f(): pass\nx = ["+strings.Repeat("1,", 1<<22)+"]\n"))
	if len(got.Definitions) != 1 || got.Problem != codeindex.TooLarge {
		t.Errorf("%d definitions with problem %q", len(got.Definitions), got.Problem)
	}
}

func FuzzParse(f *testing.F) {
	for _, source := range append(slices.Clone(valid), python2...) {
		f.Add([]byte(source))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		got := Parser{}.Parse("", source)
		last := 2 + bytes.Count(source, []byte("\n")) + bytes.Count(source, []byte("\r"))
		for _, d := range got.Definitions {
			if d.Start < 1 || d.End < d.Start || d.End > last || d.Name == "" {
				t.Errorf("%q has the lines %d to %d of %d", d.Name, d.Start, d.End, last)
			}
		}
		for _, i := range got.Imports {
			if i.Start < 1 || i.End < i.Start || i.End > last {
				t.Errorf("an import has the lines %d to %d of %d", i.Start, i.End, last)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	_, folder := standardLibrary(b)
	source, err := os.ReadFile(filepath.Join(folder, "argparse.py"))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		Parser{}.Parse("", source)
	}
}
