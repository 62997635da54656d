package languages_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel/codeindex"
	"relabel/codeindex/languages"
	"relabel/codeindex/languages/languagestest"
)

// inChildren are the languages that are parsed in other programs.
var inChildren = []codeindex.Language{
	codeindex.JavaScript, codeindex.TypeScript, codeindex.Java, codeindex.Rust, codeindex.C, codeindex.CPP, codeindex.Ruby, codeindex.PHP,
}

// good is a class of each language, which is parsed after each hostile file.
var good = map[codeindex.Language]string{
	codeindex.JavaScript: "class Good {}", codeindex.TypeScript: "class Good {}", codeindex.Java: "class Good {}",
	codeindex.Rust: "struct Good;", codeindex.C: "struct Good { int a; };", codeindex.CPP: "class Good {};",
	codeindex.Ruby: "class Good\nend", codeindex.PHP: "<?php class Good {}",
}

// hostileFiles are by name; times is how often what nests is repeated.
func hostileFiles(times int) map[string]string {
	files := map[string]string{
		"empty": "", "NUL": "class A\x00{}", "not UTF-8": "class A { /* \xff\xfe\x80 */ }", "mark": "\uFEFFclass A {}",
		"string": "<?php x = \"abc", "comment": "/* abc", "template": "x = `${`${`", "heredoc": "<?php $x = <<<EOT\nabc", "ruby heredoc": "x = <<~A\n<<~B\n",
		"raw string": "auto x = R\"abc(", "character": "x = '", "carriage returns": "class A {\r}\rclass B {\r}",
		"long name": "class " + strings.Repeat("x", times) + " {}", "long line": strings.Repeat("x=1;", times),
		"large": strings.Repeat("class A { }\n", 50<<20/12),
	}
	for _, piece := range []string{"(", "[", "{", "<", "!", "-", "a=>", "x?", "if(x)", "else ", "class A{", "class A\n", "def a\n", "fn a(){", "mod a{", "struct a{", "namespace a{",
		"function a(){", "<?php class A{", "<a>", "`${", "/*", "#if x\n", "template<", "a.", "a+", "A<", "*", "&", "impl a for ", "<<A ", "@a(", "#[a]"} {
		files["many "+strings.TrimSpace(piece)] = strings.Repeat(piece, times)
	}
	return files
}

func TestHostileFilesAreSurvived(t *testing.T) {
	parsers := languagestest.Parsers(t)
	times := 500
	if os.Getenv("RELABEL_TEST_ALL") != "" {
		times = 20_000
	}
	for name, source := range hostileFiles(times) {
		for _, l := range inChildren {
			parse(t, parsers, l, name, []byte(source))
		}
	}
}

// TestDamagedSamplesAreSurvived cuts, repeats and overwrites parts of the samples.
func TestDamagedSamplesAreSurvived(t *testing.T) {
	parsers := languagestest.Parsers(t)
	samples, err := filepath.Glob("testdata/samples/*")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, sample := range samples {
		source, err := os.ReadFile(sample)
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			parse(t, parsers, inChildren[random.IntN(len(inChildren))], sample, damaged(random, source))
		}
	}
}

func damaged(random *rand.Rand, source []byte) []byte {
	from, to := random.IntN(len(source)), random.IntN(len(source))
	from, to = min(from, to), max(from, to)
	switch random.IntN(3) {
	case 0:
		return source[from:to]
	case 1:
		return slices.Concat(source[:to], bytes.Repeat(source[from:to], 20), source[from:])
	}
	source = bytes.Clone(source)
	for range 20 {
		source[random.IntN(len(source))] = byte(1 + random.IntN(255))
	}
	return source
}

// parse parses a hostile file, whose lines must be those of the file, and then a good one.
func parse(t *testing.T, parsers *languages.Parsers, l codeindex.Language, name string, source []byte) {
	t.Helper()
	r := parsers.Parser(l).Parse(name, source)
	lines := len(codeindex.Lines(l, source))
	for _, d := range r.Definitions {
		if d.Start < 1 || d.End < d.Start || d.End > lines+1 || d.Name == "" {
			t.Errorf("%s as %s has %+v in %d lines", name, l, d, lines)
			return
		}
	}
	if r.Problem == codeindex.TooSlow || r.Problem == codeindex.ParseFail {
		t.Logf("%s as %s: %s", name, l, r.Problem)
	}
	after := parsers.Parser(l).Parse(name, []byte(good[l]))
	if len(after.Definitions) != 1 || after.Definitions[0].Name != "Good" || after.Problem != "" {
		t.Errorf("after %s as %s a good file has %+v", name, l, after)
	}
}
