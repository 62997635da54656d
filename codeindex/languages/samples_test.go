package languages_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"relabel/codeindex"
	"relabel/codeindex/languages/languagestest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write the records of testdata/samples")

// text writes records one a line, as in testdata.
func text(r codeindex.Records) string {
	var b strings.Builder
	for _, d := range r.Definitions {
		fmt.Fprintf(&b, "%s %d-%d %s\n", d.Kind, d.Start, d.End, d.Name)
	}
	for _, i := range r.Imports {
		fmt.Fprintf(&b, "import %d-%d\n", i.Start, i.End)
	}
	if r.Problem != "" {
		fmt.Fprintf(&b, "problem %s\n", r.Problem)
	}
	return b.String()
}

func TestSamplesHaveTheirRecords(t *testing.T) {
	parsers := languagestest.Parsers(t)
	samples, err := filepath.Glob("testdata/samples/*")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[codeindex.Language]bool{}
	for _, sample := range samples {
		language := codeindex.LanguageOf(sample)
		if language == "" {
			continue // records
		}
		seen[language] = true
		source, err := os.ReadFile(sample)
		if err != nil {
			t.Fatal(err)
		}
		got := text(parsers.Parser(language).Parse(sample, source))
		if *update {
			if err := os.WriteFile(sample+".records", []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(sample + ".records")
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s:\n%s\nwant:\n%s", sample, got, want)
		}
	}
	if len(seen) < 8 {
		t.Errorf("samples of %d languages", len(seen))
	}
}
