package tasks

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"relabel"
)

const (
	someCommit  = "298ccb478e6bf092953bca67a3d29dc6c35f6752"
	otherCommit = "0123456789abcdef0123456789abcdef01234567"
)

// localiseLine is a task to localise with some fields changed; nil takes one away.
func localiseLine(t testing.TB, changes map[string]any) string {
	t.Helper()
	return changeLine(t, `{"kind":"localise","instance_id":"acme__shelf-1","repository":"acme/shelf","base_commit":"`+someCommit+`","problem_statement":"It falls.",
		"gold_files":["a/b.py","c.go"],"gold_functions":["a/b.py::C.f","c.go::T.g"]}`, changes)
}

func TestTasksToLocaliseAreRead(t *testing.T) {
	file := localiseLine(t, map[string]any{"hints_text": "a hint", "base_commit": strings.ToUpper(someCommit)}) + "\n" +
		localiseLine(t, map[string]any{"instance_id": "acme__shelf-2", "gold_functions": nil, "gold_files": `["ü b.py"]`})
	for _, format := range []Format{FormatAuto, FormatRelabel} {
		got, err := readTasks(strings.NewReader(file), format)
		want := []relabel.Task{
			{Kind: relabel.Localise, InstanceID: "acme__shelf-1", Repo: "acme/shelf", BaseCommit: someCommit, ProblemStatement: "It falls.", HintsText: "a hint",
				GoldFiles: []string{"a/b.py", "c.go"}, GoldFunctions: []string{"a/b.py::C.f", "c.go::T.g"}},
			{Kind: relabel.Localise, InstanceID: "acme__shelf-2", Repo: "acme/shelf", BaseCommit: someCommit, ProblemStatement: "It falls.", GoldFiles: []string{"ü b.py"}},
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", format, got, err)
		}
	}
}

func TestBadFieldsOfTasksToLocaliseAreRefused(t *testing.T) {
	for _, c := range []struct {
		field string
		value any
		says  string
	}{
		{"kind", nil, "missing"}, {"kind", "localize", "not one of repair, localise"}, {"kind", "repair", "not one of repair, localise"}, {"kind", 1, "not a string"},
		{"instance_id", nil, "missing"}, {"instance_id", "a/b", "at most 200"},
		{"repository", nil, "missing"}, {"repository", "shelf", "not OWNER/NAME"}, {"repository", "a/b/c", "not OWNER/NAME"}, {"repository", "a__b/c", "not OWNER/NAME"},
		{"repository", "../x", "not OWNER/NAME"}, {"repository", "a/.git", "not OWNER/NAME"}, {"repository", "a/" + strings.Repeat("b", 200), "not OWNER/NAME"},
		{"base_commit", nil, "missing"}, {"base_commit", someCommit[:12], "not the full hash"}, {"base_commit", "main", "not the full hash"},
		{"problem_statement", " ", "missing"}, {"problem_statement", "a\x00", "NUL"},
		{"gold_files", nil, "missing or empty"}, {"gold_files", []string{}, "missing or empty"}, {"gold_files", "a.py", "neither a list of paths"}, {"gold_files", []any{"a/b.py", 1}, "item 2"},
		{"gold_files", []string{"a/b.py", "c.go", ""}, "item 3"}, {"gold_files", []string{"/a/b.py"}, "item 1"}, {"gold_files", []string{"a/b.py", "../c.go"}, "item 2"},
		{"gold_files", []string{"a//b.py"}, "not a path"}, {"gold_files", []string{"./a/b.py"}, "not a path"}, {"gold_files", []string{"a\n.py"}, "not a path"},
		{"gold_files", []string{"a::b.py"}, "not a path"}, {"gold_files", []string{"."}, "not a path"}, {"gold_files", []string{"a/"}, "not a path"},
		{"gold_files", []string{"a/b.py", "c.go", "a/b.py"}, "item 3, \"a/b.py\", is item 1 too"},
		{"gold_functions", []string{"a/b.py::C.f", "c.go::T.g", "a/b.py::C.f"}, "is item 1 too"}, {"gold_functions", []string{"a/b.py"}, "not path::Qualified.name"},
		{"gold_files", []string{"- a.py"}, "not a path"}, {"gold_files", []string{"1. a.py"}, "not a path"}, {"gold_files", []string{"a/b.py", "`c`.go"}, "item 2"},
		{"gold_functions", []string{"a/b.py::C.`"}, "not path::Qualified.name"}, {"gold_functions", []string{"a/b.py::"}, "not path::Qualified.name"}, {"gold_functions", []string{"a/b.py:: f"}, "not path::Qualified.name"}, {"gold_functions", []string{"a/b.py::f\n"}, "not path::"},
		{"gold_functions", []string{"a/b.py::C.f", "d.py::f"}, "item 2, \"d.py::f\", is in no file of gold_files"}, {"gold_functions", map[string]int{}, "neither a list of functions"},
		{"image", "x", "not a field of a task"}, {"gold_function", []string{}, "not a field of a task"},
	} {
		t.Run(c.field+" "+c.says, func(t *testing.T) {
			file := localiseLine(t, map[string]any{"instance_id": "good"}) + "\n\n" + localiseLine(t, map[string]any{c.field: c.value})
			got, err := readTasks(strings.NewReader(file), FormatAuto)
			var e *relabel.Error
			if !errors.As(err, &e) || e.Code != relabel.CodeInvalid || e.Field != "line 3: "+c.field || !strings.Contains(e.Message, c.says) || got != nil {
				t.Errorf("%v: got %v, want a refusal of line 3: %s that says %q", c.value, err, c.field, c.says)
			}
		})
	}
}

// TestMuchGoldIsCheckedSoon would take minutes if each function were looked for among all files.
func TestMuchGoldIsCheckedSoon(t *testing.T) {
	const n = 200_000
	files, functions := make([]string, n), make([]string, n)
	for i := range n {
		files[i] = fmt.Sprintf("a/%d.py", i)
		functions[i] = files[i] + "::f"
	}
	file := localiseLine(t, map[string]any{"gold_files": files, "gold_functions": functions})
	begun := time.Now()
	got, err := readTasks(strings.NewReader(file), FormatAuto)
	if err != nil || len(got) != 1 || len(got[0].GoldFunctions) != n {
		t.Errorf("%d tasks, %v", len(got), err)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestAFileHasTasksOfOneKind(t *testing.T) {
	repair, localise := ownLine(t, map[string]any{"kind": "repair"}), localiseLine(t, nil)
	swe, _, _ := strings.Cut(string(readTaskFile(t, "swebench")), "\n")
	for file, want := range map[string]string{
		repair + "\n" + localise:                    "line 2: kind: is localise, and that of line 1 is repair: a file has tasks of one kind",
		localise + "\n\n" + repair + "\n":           "line 3: kind: is repair, and that of line 1 is localise: a file has tasks of one kind",
		swe + "\n" + localise:                       "line 2: kind: is localise",
		"{\"kind\":1}\n" + repair + "\n" + localise: "line 3: kind: is localise, and that of line 2 is repair",
		repair:   "",
		localise: "",
		ownLine(t, map[string]any{"kind": "sample"}): `line 1: kind: "sample" is not one of repair, localise`,
	} {
		_, err := readTasks(strings.NewReader(file), FormatAuto)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

const somePatch = "diff --git a/a.png b/a.png\nindex 1..2 100644\nBinary files a/a.png and b/a.png differ\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"

// pairLine is a pair with some fields changed; nil takes one away.
func pairLine(t testing.TB, changes map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"repository": "acme/shelf", "base_commit": someCommit, "issue": "It falls.", "patch": somePatch})
	if err != nil {
		t.Fatal(err)
	}
	return changeLine(t, string(raw), changes)
}

func TestPairsAreRead(t *testing.T) {
	file := "\ufeff" + pairLine(t, map[string]any{"instance_id": "x-1", "issue_number": 3, "pull_number": 4, "title": "y", "url": nil}) + "\r\n\r\n" +
		pairLine(t, map[string]any{"patch": nil, "head_commit": otherCommit})
	got, unused, err := ReadPairs(strings.NewReader(file))
	want := []Pair{
		{InstanceID: "x-1", Repository: "acme/shelf", BaseCommit: someCommit, Issue: "It falls.", Patch: somePatch, IssueNumber: 3, PullNumber: 4},
		{Repository: "acme/shelf", BaseCommit: someCommit, Issue: "It falls.", HeadCommit: otherCommit},
	}
	if err != nil || !reflect.DeepEqual(got, want) || !maps.Equal(unused, map[string]int{"title": 1}) {
		t.Errorf("%+v, %v, %v", got, unused, err)
	}
}

func TestBadPairsAreRefused(t *testing.T) {
	for _, c := range []struct {
		field string
		value any
		says  string
	}{
		{"instance_id", "a b", "at most 200"}, {"repository", "shelf", "not OWNER/NAME"}, {"base_commit", "v1.0", "not the full hash"}, {"issue", "", "missing"}, {"issue", 3, "not a string"},
		{"patch", nil, "give patch or head_commit"}, {"patch", "", "empty"}, {"patch", "x", "not a diff"}, {"patch", "--- a/x\n+++ b/../y\n@@ -1 +1 @@\n-a\n+b\n", "leaves the repository"}, {"patch", somePatch + "@@ -9,3 +9,3 @@\n a\n", "hunk at line 10 has"},
		{"head_commit", someCommit, "beside"}, {"issue_number", "3", "not a whole number"}, {"issue_number", 0, "not a whole number"}, {"pull_number", 1.5, "not a whole number"},
	} {
		file := pairLine(t, nil) + "\n" + pairLine(t, map[string]any{c.field: c.value})
		got, _, err := ReadPairs(strings.NewReader(file))
		field := c.field
		if field == "head_commit" {
			field = "patch"
		}
		var e *relabel.Error
		if !errors.As(err, &e) || e.Field != "line 2: "+field || !strings.Contains(e.Message, c.says) || got != nil {
			t.Errorf("%s %v: got %v", c.field, c.value, err)
		}
	}
	for file, want := range map[string]string{"\n": "contains no pair", "[1]": "row 1: is not a JSON object", pairLine(t, map[string]any{"patch": nil, "head_commit": "main"}): "line 1: head_commit: "} {
		if _, _, err := ReadPairs(strings.NewReader(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", file, err)
		}
	}
}
