package localise

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"relabel/codeindex"
)

// TestCommentsOfEachLanguage marks each line with + for code or - for a comment or nothing.
func TestCommentsOfEachLanguage(t *testing.T) {
	for name, c := range map[string]struct {
		language codeindex.Language
		marked   string
	}{
		"python":               {codeindex.Python, "-# a\n+a = '#'\n+b = \"\"\"\n+# text\n-\n+\"\"\"\n-# b\n+c = '''\n+\"\"\" '''\n-# c\n+x = r'\\'\n-# d\n+y = 'a\\\n+# b'\n-# e\n-"},
		"python, broken":       {codeindex.Python, "+a = 'b\n-# c\n+d = f'{x['a']}'\n-# e"},
		"go":                   {codeindex.Go, "-// a\n-/* a\n-b */\n+/* a */ b\n+c := `\n+// d\n+`\n+d := '\"'\n-// e\n+e := \"// /*\"\n-// f\n+f /* a\n-b */\n-/* a\n+b */ c"},
		"javascript":           {codeindex.JavaScript, "-// a\n+a = `\n+// b ${ f(`\n+// c`) } '\n+`\n-// d\n+b = /[/*'\"`]/\n-// e\n+c = 4 / 2 /* '\n-*/\n+return /`/\n-// f\n+d = 'it\\'s'\n-// g"},
		"jsx":                  {codeindex.JavaScript, "+<b>don't</b>\n-// a\n+</b> // b\n-/* c */"},
		"typescript":           {codeindex.TypeScript, "+let a: A<B> = x\n-/** b\n-* c */"},
		"java":                 {codeindex.Java, "-// a\n+a = \"\"\"\n+// b\n+\"\"\";\n+c = '\"';\n-/* d */"},
		"rust":                 {codeindex.Rust, "-/// a\n-/* a /* b */\n-c */\n+let a = \"\n+// b\";\n+let b = r#\"\n+\" // c\n+\"#;\n+fn f<'a>(x: &'a str, c: char) { c == '\"' }\n-// d\n+let e = '\\'';\n-// e\n+let f = '\\u{1F600}';\n-// f"},
		"c":                    {codeindex.C, "-// a\n+char c = '\"';\n-/* b */\n+#include <a>\n-// c"},
		"c++":                  {codeindex.CPP, "+auto a = R\"x(\n+// b )\" )y\"\n+)x\";\n-// c\n+int d = 1'000'000;\n-// d"},
		"ruby":                 {codeindex.Ruby, "-# a\n-=begin\n-b\n-=end\n+c = <<~TEXT + d\n+# e\n+  TEXT\n-# f\n+g = \"#{h}\"\n-# i\n+a <<b\n-# j\n+a =begin\n+c"},
		"php":                  {codeindex.PHP, "+<?php\n-# a\n-// b\n-/* c */\n+#[Attribute]\n+$a = <<<'EOT'\n+# d\n+EOT;\n-# e"},
		"a form feed":          {codeindex.Python, "-\f\n-# a"},
		"a byte order mark":    {codeindex.Python, "-\uFEFF# a\n+a"},
		"an open block":        {codeindex.Go, "+a\n-/* b\n-c"},
		"an open string":       {codeindex.Python, "+a = '''\n+# b"},
		"no known language":    {"", "+# a\n+// b\n- "},
		"comment at the end":   {codeindex.Ruby, "+a # b\n-=begin\n-a"},
		"a slash at the end":   {codeindex.Python, "+a = 'b\\"},
		"a template, open":     {codeindex.JavaScript, "+a = `${"},
		"a heredoc, open":      {codeindex.Ruby, "+a = <<TEXT\n+# b"},
		"carriage returns":     {codeindex.Go, "-// a\r\n+a := 1 // b\r\n-// c\r\n-\r"},
		"a string over a line": {codeindex.C, "+a = \"b\\\r\n+// c\"\r\n-// d"},
	} {
		var content, want []string
		for line := range strings.SplitSeq(c.marked, "\n") {
			want = append(want, line[:1])
			content = append(content, line[1:])
		}
		var got []string
		for _, code := range codeLines(c.language, strings.Join(content, "\n")) {
			got = append(got, map[bool]string{true: "+", false: "-"}[code])
		}
		if strings.Join(got, "") != strings.Join(want, "") {
			t.Errorf("%s: got %s, not %s", name, strings.Join(got, ""), strings.Join(want, ""))
		}
	}
}

// FuzzCodeLines looks for text that panics or gives another number of lines.
func FuzzCodeLines(f *testing.F) {
	f.Add("a = '''\n# b", 0)
	f.Add("`${`${'", 2)
	f.Add("r##\"\n'\\", 5)
	f.Add("<<~A\n A)", 8)
	f.Fuzz(func(t *testing.T, content string, n int) {
		language := codeindex.Languages[(n%len(codeindex.Languages)+len(codeindex.Languages))%len(codeindex.Languages)]
		if got := codeLines(language, content); len(got) != strings.Count(content, "\n")+1 {
			t.Errorf("%d lines", len(got))
		}
	})
}

func TestEveryTextOfPiecesIsScanned(t *testing.T) {
	pieces := rapid.SliceOf(rapid.SampledFrom([]string{"`", "${", "}", "'", `"`, `"""`, "'''", "\\", "\n", "//", "/*", "*/", "#", "#[", "=begin", "=end", "<<~A", "<<<A", "A", "r#\"", "R\"(", ")\"", " ", "x", "/", "\r", "é"}))
	rapid.Check(t, func(t *rapid.T) {
		content := strings.Join(pieces.Draw(t, "pieces"), "")
		for _, language := range codeindex.Languages {
			lines := strings.Split(content, "\n")
			for i, code := range codeLines(language, content) {
				if code && strings.Trim(lines[i], " \t\r\f\v\uFEFF") == "" {
					t.Fatalf("%s: line %d of %q is blank and code", language, i, content)
				}
			}
		}
	})
}
