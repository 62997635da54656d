package python

import (
	"os"
	"slices"
	"strings"
	"testing"

	"relabel/codeindex"
)

// TestFilesOfPython2AreKnown compares the library of Python 2: files that only Python 2 parses have
// that problem, and their names and first lines are right. Lists of lambdas without brackets in list
// comprehensions, which its tests of the grammar have, are not known.
func TestFilesOfPython2AreKnown(t *testing.T) {
	python2 := os.Getenv(python2Variable)
	if python2 == "" {
		t.Skip(python2Variable + " names no Python 2.7")
	}
	python3, _ := standardLibrary(t)
	folder := libraryOf(t, python2)
	byPython3 := references(t, python3, folder)
	counts := map[codeindex.Problem]int{}
	definitions := 0
	for i, want := range references(t, python2, folder) {
		if want.Error != "" || byPython3[i].Error == "" {
			continue
		}
		source, err := os.ReadFile(want.Path)
		if err != nil {
			t.Fatal(err)
		}
		got := Parser{}.Parse(want.Path, source)
		counts[got.Problem]++
		definitions += len(want.Definitions)
		if got.Problem != codeindex.Python2 && !strings.HasSuffix(want.Path, "test_grammar.py") {
			t.Errorf("%s has the problem %q", want.Path, got.Problem)
		}
		if a, b := starts(lines(got)), starts(want.lines()); !slices.Equal(a, b) {
			t.Errorf("%s: %s", want.Path, difference(a, b))
		}
	}
	if counts[codeindex.Python2] == 0 {
		t.Error("no files")
	}
	t.Logf("%v, %d definitions", counts, definitions)
}

// starts removes the last lines.
func starts(all []string) []string {
	for i, line := range all {
		all[i] = line[:strings.LastIndex(line, "-")]
	}
	return all
}
