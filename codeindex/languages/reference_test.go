package languages_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel/codeindex"
	"relabel/codeindex/languages/languagestest"
)

// referenceSources is a folder of sources to compare too.
const referenceSources = "RELABEL_TEST_SOURCES"

// TestRecordsAreThoseOfTheReference compares with another extraction from the grammars on PyPI, on the
// samples and on the folder that RELABEL_TEST_SOURCES names.
func TestRecordsAreThoseOfTheReference(t *testing.T) {
	parsers := languagestest.Parsers(t)
	reference := startReference(t)
	counts := map[codeindex.Language]*comparison{}
	compare := func(path string, strict bool) {
		language := languageHere(path)
		source, err := os.ReadFile(path)
		if err != nil || language == "" || parsers.Version(language, path) == 0 || language == codeindex.Python || language == codeindex.Go {
			return
		}
		got := parsers.Parser(language).Parse(path, source)
		if got.Problem != "" && got.Problem != codeindex.Syntax {
			t.Logf("%s: %s", path, got.Problem)
			return
		}
		c := counts[language]
		if c == nil {
			c = &comparison{}
			counts[language] = c
		}
		for _, difference := range c.add(got, reference(path, language)) {
			if strict {
				t.Errorf("%s: %s", path, difference)
			} else {
				t.Logf("%s: %s", path, difference)
			}
		}
	}
	samples, err := filepath.Glob("testdata/samples/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range samples {
		compare(path, !strings.HasSuffix(path, ".records"))
	}
	if root := os.Getenv(referenceSources); root != "" {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				compare(path, false)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for language, c := range counts {
		t.Logf("%s: %+v", language, *c)
	}
}

// languageHere is the language of a file; a folder called cpp says what its headers are.
func languageHere(path string) codeindex.Language {
	l := codeindex.LanguageOf(path)
	if l == codeindex.C && strings.Contains(path, "/cpp/") {
		return codeindex.CPP
	}
	return l
}

// comparison counts what was compared, and what differs: definitions and imports that one side alone
// has, and files with errors on each side.
type comparison struct {
	Files, Definitions, Imports    int
	Missing, Extra                 int
	MissingImports, ExtraImports   int
	Errors, ReferenceErrors        int
	Differing, DifferingWellFormed int
}

// add counts a file, and says what differs.
func (c *comparison) add(got, want codeindex.Records) (differences []string) {
	c.Files++
	c.Definitions += len(want.Definitions)
	c.Imports += len(want.Imports)
	missing, extra := without(want.Definitions, got.Definitions), without(got.Definitions, want.Definitions)
	missingImports, extraImports := without(want.Imports, got.Imports), without(got.Imports, want.Imports)
	c.Missing += len(missing)
	c.Extra += len(extra)
	c.MissingImports += len(missingImports)
	c.ExtraImports += len(extraImports)
	if got.Problem != "" {
		c.Errors++
	}
	if want.Problem != "" {
		c.ReferenceErrors++
	}
	for what, all := range map[string][]codeindex.Definition{"missing": missing, "extra": extra} {
		for _, d := range all {
			differences = append(differences, fmt.Sprint(what, " ", d))
		}
	}
	for what, all := range map[string][]codeindex.Import{"missing import": missingImports, "extra import": extraImports} {
		for _, i := range all {
			differences = append(differences, fmt.Sprint(what, " ", i))
		}
	}
	if len(differences) > 0 {
		c.Differing++
		if want.Problem == "" {
			c.DifferingWellFormed++
		}
	}
	return differences
}

// without returns what is in a and not in b, with repetitions.
func without[T comparable](a, b []T) (rest []T) {
	count := map[T]int{}
	for _, x := range b {
		count[x]++
	}
	for _, x := range a {
		count[x]--
		if count[x] < 0 {
			rest = append(rest, x)
		}
	}
	return rest
}

// startReference starts the reference. It returns the records of a file.
func startReference(t *testing.T) func(path string, l codeindex.Language) codeindex.Records {
	t.Helper()
	python, err := exec.Command("../../scripts/python.sh", "testdata/reference/requirements.txt").Output()
	if err != nil {
		t.Fatalf("the reference needs Python: make test-needs: %v", err)
	}
	cmd := exec.Command(strings.TrimSpace(string(python)), "testdata/reference/extract.py")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	answers := json.NewDecoder(bufio.NewReader(out))
	return func(path string, l codeindex.Language) codeindex.Records {
		name := string(l)
		if strings.HasSuffix(path, ".tsx") {
			name = "tsx"
		}
		if _, err := fmt.Fprintf(in, "%s\t%s\n", name, path); err != nil {
			t.Fatal(err)
		}
		var answer referenceAnswer
		if err := answers.Decode(&answer); err != nil {
			t.Fatal(path, err)
		}
		return answer.records(t)
	}
}

// referenceAnswer is a line that the reference prints.
type referenceAnswer struct {
	Definitions [][4]any
	Imports     [][2]int
	Errors      bool
}

func (a referenceAnswer) records(t *testing.T) (r codeindex.Records) {
	kinds := map[any]codeindex.Kind{"c": codeindex.Class, "f": codeindex.Function, "m": codeindex.Method}
	for _, d := range a.Definitions {
		start, _ := d[1].(float64)
		end, _ := d[2].(float64)
		name, ok := d[3].(string)
		if !ok || kinds[d[0]] == "" {
			t.Fatalf("a definition of the reference: %v", d)
		}
		r.Definitions = append(r.Definitions, codeindex.Definition{Kind: kinds[d[0]], Name: name, Span: codeindex.Span{Start: int(start), End: int(end)}})
	}
	for _, i := range a.Imports {
		r.Imports = append(r.Imports, codeindex.Import{Span: codeindex.Span{Start: i[0], End: i[1]}})
	}
	slices.SortStableFunc(r.Definitions, func(a, b codeindex.Definition) int { return cmp.Compare(a.Start, b.Start) })
	if a.Errors {
		r.Problem = codeindex.Syntax
	}
	return r
}
