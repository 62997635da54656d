package golang

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"relabel/codeindex"
)

const example = `package p

import "fmt"

import (
	"os"
	_ "embed"
)

// T has a comment.
type T[K any] struct {
	inner struct{ a int }
}

//line other.y:100
func (t *T[K]) Method() {
	type local int
}

type (
	Named = int
	Face  interface{ M() }
)

func (Named) Value() {}

func outer() func() {
	return func() { type deep struct{} }
}
`

func TestDefinitionsAndImports(t *testing.T) {
	got := Parser{}.Parse("p.go", []byte(example))
	want := []string{
		"class T 11-13", "method T.Method 16-18", "class T.Method.local 17-17", "class Named 21-21",
		"class Face 22-22", "method Named.Value 25-25", "function outer 27-29", "class outer.deep 28-28",
		"import 3-3", "import 5-8",
	}
	if a := lines(got); !slices.Equal(a, want) || got.Problem != "" {
		t.Errorf("got %q, want %q, problem %q", a, want, got.Problem)
	}
}

func TestFilesWithErrorsHaveTheirDefinitions(t *testing.T) {
	source := "package p\n\nfunc a() {}\n" + strings.Repeat("\nvar = 1\n", 20) + "\nfunc b() {}\n\ntype c int\n"
	got := Parser{}.Parse("p.go", []byte(source))
	var names []string
	for _, d := range got.Definitions {
		names = append(names, d.Name)
	}
	if want := []string{"a", "b", "c"}; !slices.Equal(names, want) || got.Problem != codeindex.Syntax {
		t.Errorf("got %v with problem %q, want %v", names, got.Problem, want)
	}
}

func TestProblems(t *testing.T) {
	for source, want := range map[string]codeindex.Problem{
		"":                               codeindex.Syntax,
		"package p":                      "",
		"package p\nvar a = \"\xff\"":    codeindex.NotText,
		"package p\nvar a = `\x00`":      codeindex.NotText,
		"package p\nfunc":                codeindex.Syntax,
		"\ufeffpackage p\r\nvar a = 1":   "",
		"package p\nvar a = 0777 + `\r`": "",
	} {
		if got := (Parser{}).Parse("golang.go", []byte(source)).Problem; got != want {
			t.Errorf("%q: problem %q, want %q", source, got, want)
		}
	}
	if got := (Parser{}).Parse("golang.go", nil); len(got.Definitions) > 0 {
		t.Error("a source that is nil was read from the disk")
	}
}

// TestLongNamesAreNotRepeated checks that records do not grow faster than the source.
func TestLongNamesAreNotRepeated(t *testing.T) {
	long := strings.Repeat("x", 1<<16)
	source := "package p\nfunc " + long + "() {\n" + strings.Repeat("type a int\n", 1<<14) + "}\n"
	got := Parser{}.Parse("p.go", []byte(source))
	total := 0
	for _, d := range got.Definitions {
		total += len(d.Name)
	}
	if total > 20*len(source) || got.Problem != codeindex.TooLarge {
		t.Errorf("%d bytes of names for %d of source, problem %q", total, len(source), got.Problem)
	}
}

func TestDeepSourcesDoNotPanic(t *testing.T) {
	const deep = 1 << 17
	for _, part := range []string{"(", "[", "{", "func(){", "a.b(", "-", "a+", "if a {} else ", "type T struct{", "*", "`", "\"", "/*", "func ", "$"} {
		Parser{}.Parse("p.go", []byte("package p\nfunc a() {\n"+strings.Repeat(part, deep)))
	}
}

// TestRecordsAreThoseOfTheSyntaxTree compares Go's own tree with a walk that is written otherwise.
func TestRecordsAreThoseOfTheSyntaxTree(t *testing.T) {
	t.Parallel()
	files, bytesRead, definitions, imports, refused := 0, 0, 0, 0, 0
	var took time.Duration
	for _, path := range goFiles(t) {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		got := Parser{}.Parse(path, source)
		took += time.Since(began)
		files++
		bytesRead += len(source)
		want, err := reference(source)
		if err != nil {
			refused++
			if got.Problem == "" {
				t.Errorf("%s has no problem, but %v", path, err)
			}
			continue
		}
		definitions += len(got.Definitions)
		imports += len(got.Imports)
		if a := lines(got); !slices.Equal(a, want) || got.Problem != "" {
			t.Errorf("%s: got %q, want %q, problem %q", path, a, want, got.Problem)
		}
	}
	if files == 0 {
		t.Error("no files")
	}
	t.Logf("%d files (%d refused), %d definitions, %d imports, %.1f MB/s",
		files, refused, definitions, imports, float64(bytesRead)/1e6/took.Seconds())
}

func goRoot(t testing.TB) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatalf("go env GOROOT: %v", err)
	}
	return strings.TrimSpace(string(root))
}

func goFiles(t testing.TB) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(filepath.Join(goRoot(t), "src"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".go") {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// reference returns the lines of a source by a walk over all of its nodes, with lines counted in the
// bytes.
func reference(source []byte) ([]string, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, 0)
	if err != nil {
		return nil, err
	}
	var ends []int
	for i, c := range source {
		if c == '\n' {
			ends = append(ends, i)
		}
	}
	line := func(pos token.Pos) int { return 1 + sort.SearchInts(ends, int(pos)-1) }
	var definitions, imports []string
	function, functionEnd := "", token.NoPos
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			return false
		}
		span := fmt.Sprintf("%d-%d", line(n.Pos()), line(n.End()))
		if n.Pos() >= functionEnd {
			function = ""
		}
		switch n := n.(type) {
		case *ast.FuncDecl:
			kind, name := "function", n.Name.Name
			if receiver := written(n.Recv); token.IsIdentifier(receiver) {
				kind, name = "method", receiver+"."+name
			}
			definitions = append(definitions, kind+" "+name+" "+span)
			function, functionEnd = name+".", n.End()
		case *ast.TypeSpec:
			definitions = append(definitions, "class "+function+n.Name.Name+" "+span)
		case *ast.GenDecl:
			if n.Tok == token.IMPORT {
				imports = append(imports, "import "+span)
			}
		}
		return true
	})
	return append(definitions, imports...), nil
}

// written returns the type of a receiver as it is written, without pointers and parameters.
func written(receiver *ast.FieldList) string {
	if receiver == nil || len(receiver.List) == 0 {
		return ""
	}
	name, _, _ := strings.Cut(types.ExprString(receiver.List[0].Type), "[")
	return strings.Trim(name, "*()")
}

// lines writes records one per line.
func lines(r codeindex.Records) []string {
	var all []string
	for _, d := range r.Definitions {
		all = append(all, fmt.Sprintf("%s %s %d-%d", d.Kind, d.Name, d.Start, d.End))
	}
	for _, i := range r.Imports {
		all = append(all, fmt.Sprintf("import %d-%d", i.Start, i.End))
	}
	return all
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Fuzz(func(t *testing.T, source []byte) {
		last := 1 + bytes.Count(source, []byte("\n"))
		for _, d := range (Parser{}).Parse("p.go", source).Definitions {
			if d.Start < 1 || d.End < d.Start || d.End > last {
				t.Errorf("%s has the lines %d to %d of %d", d.Name, d.Start, d.End, last)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	source, err := os.ReadFile(filepath.Join(goRoot(b), "src", "net", "http", "server.go"))
	if err != nil {
		b.Skip(err)
	}
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		Parser{}.Parse("server.go", source)
	}
}
