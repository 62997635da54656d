package results

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/tasks"
)

// TestImportTakesExactlyTheParsersThereAre holds the importer's list of log parsers, which
// knows no verifier, against the verifier's parsers.
func TestImportTakesExactlyTheParsersThereAre(t *testing.T) {
	var short []string
	for _, name := range slices.Sorted(maps.Keys(parsers)) {
		if long, ok := strings.CutPrefix(name, "parse_log_"); !ok {
			short = append(short, name)
		} else if parsers[long] == nil {
			t.Errorf("%q is the long form of no parser", name)
		}
		stored, err := imported(name)
		if err != nil || parsers[stored] == nil {
			t.Errorf("a task with log_parser %q is imported with %q, %v", name, stored, err)
		}
	}
	if want := slices.Sorted(slices.Values(tasks.LogParsers)); !slices.Equal(short, want) {
		t.Errorf("the verifier has the parsers %v, the importer takes %v", short, want)
	}
	if _, err := imported("parse_log_nose"); relabel.CodeOf(err) != relabel.CodeInvalid {
		t.Errorf("a parser that there is not gave %v", err)
	}
}

// TestParsersOfOtherDataSetsAreImportedAsOnesThereAre takes the names that SWE-bench and
// SWE-rebench give to the parsers of single repositories.
func TestParsersOfOtherDataSetsAreImportedAsOnesThereAre(t *testing.T) {
	for name, want := range map[string]string{
		"parse_log_astropy": "pytest_v2", "parse_log_scikit": "pytest_v2", "parse_log_sphinx": "pytest_v2",
		"parse_log_requests": "pytest_options", "parse_log_pydicom": "pytest_options", "parse_log_pylint": "pytest_options",
		"parse_log_matplotlib": "matplotlib", "parse_log_xarray": "pytest", "seaborn": "pytest_v2",
		"parse_log_django": "django", "parse_log_sympy": "sympy",
	} {
		if stored, err := imported(name); err != nil || stored != want || parsers[stored] == nil {
			t.Errorf("log_parser %q is imported as %q, %v, not as %q", name, stored, err, want)
		}
	}
}

// imported reads a task with this log parser and returns the name that is stored.
func imported(parser string) (string, error) {
	line := fmt.Sprintf(`{"instance_id": "a__b-1", "image": "python:3.12", "workdir": "/repo", "problem_statement": "It fails.",
		"patch": "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\n", "test_cmd": "run", "log_parser": %q, "FAIL_TO_PASS": ["t"]}`, parser)
	file, err := tasks.Read(strings.NewReader(strings.ReplaceAll(line, "\n", " ")), tasks.FormatRelabel)
	if err != nil {
		return "", err
	}
	return file.Tasks[0].LogParser, nil
}
