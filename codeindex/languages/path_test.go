package languages

import (
	"testing"

	"relabel/codeindex"
)

func TestTheNameOfAPathTellsItsLanguage(t *testing.T) {
	for path, want := range map[string]codeindex.Language{
		"a/b.py": codeindex.Python, "b.pyi": codeindex.Python, "x.go": codeindex.Go, "a.d.ts": codeindex.TypeScript,
		"a.tsx": codeindex.TypeScript, "a.test.mjs": codeindex.JavaScript, "A.java": codeindex.Java, "lib.rs": codeindex.Rust,
		"a.h": codeindex.C, "a.c": codeindex.C, "a.C": codeindex.CPP, "a.H": codeindex.CPP, "a.cc": codeindex.CPP,
		"x/Rakefile": codeindex.Ruby, "Gemfile": codeindex.Ruby, "a.gemspec": codeindex.Ruby, "A.PHP": codeindex.PHP,
		"a.md": "", "py": "", ".py/x": "", "Gemfile.lock": "", "a.cs": "", "": "", "dir.go/README": "",
	} {
		got, ok := Of(path)
		if got != want || ok != (want != "") {
			t.Errorf("Of(%q) = %q, %v; want %q", path, got, ok, want)
		}
	}
}

func TestHeadersAreCPPWhereCPPIs(t *testing.T) {
	for _, c := range []struct {
		paths []string
		want  codeindex.Language
	}{
		{[]string{"a.c", "a.h"}, codeindex.C},
		{[]string{"a.h", "x/b.cpp"}, codeindex.CPP},
		{[]string{"a.h", "b.hh"}, codeindex.CPP},
		{nil, codeindex.C},
	} {
		of := InRepository(c.paths)
		if got, _ := of("x/a.h"); got != c.want {
			t.Errorf("a header beside %q is %q, want %q", c.paths, got, c.want)
		}
		if got, _ := of("a.c"); got != codeindex.C {
			t.Errorf("a.c beside %q is %q", c.paths, got)
		}
	}
}
