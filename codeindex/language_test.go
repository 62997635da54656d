package codeindex

import "testing"

func TestLanguagesAreThoseOfTheEndOfAName(t *testing.T) {
	for name, want := range map[string]Language{
		"a/b.py": Python, "stubs.pyi": Python, "main.go": Go, "a.JS": JavaScript, "a.test.tsx": TypeScript, "A.java": Java, "lib.rs": Rust, "a.h": C, "a.hpp": CPP, "x.rb": Ruby, "i.php": PHP,
		"a.c": C, "a.C": CPP, "a.H": CPP, "x/Rakefile": Ruby, "Gemfile": Ruby, "a.gemspec": Ruby, "I.PHP": PHP, "a.d.ts": TypeScript,
		"Gemfile.lock": "", "a.cs": "", "": "",
		"README.md": "", "py": "", "a.py/README": "",
	} {
		if got := LanguageOf(name); got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
}
