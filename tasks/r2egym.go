package tasks

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"relabel"
)

// r2eHidden are the files that R2E-Gym moves away before its agents start: the hidden tests and what runs them.
var r2eHidden = []string{"/r2e_tests", "/testbed/r2e_tests", "/testbed/run_tests.sh", "/testbed/expected_test_output.json",
	"/testbed/execution_result.json", "/testbed/parsed_commit.json", "/testbed/syn_issue.json", "/testbed/modified_files.json", "/testbed/modified_entities.json"}

// readR2EGym reads a row of R2E-Gym. Its tests lie in the image; the reward is 1 if their outcome equals
// expected_output_json.
func (l *taskLine) readR2EGym() relabel.Task {
	t := relabel.Task{
		Kind: relabel.Repair, Repo: l.need("repo_name"), Image: l.image(FormatR2EGym), Workdir: "/testbed",
		ProblemStatement: l.issueText("problem_statement"), Expected: l.statuses("expected_output_json"), Hidden: r2eHidden,
		TestCmd: "bash run_tests.sh", LogParser: "r2egym",
	}
	if t.InstanceID = l.text("instance_id"); t.InstanceID == "" {
		t.InstanceID = t.Repo + "-" + l.need("commit_hash")
	}
	l.used["commit_hash"] = true
	t.EvalScript = makeEvalScript([]string{"if [ ! -e r2e_tests ]; then ln -s /r2e_tests r2e_tests; fi"}, t.TestCmd)
	t.Patch = l.commitPatch("parsed_commit_content")
	if len(t.Expected) == 0 && !l.wrong("expected_output_json") {
		l.refuse("expected_output_json", "is missing or empty: without it the task cannot be graded")
	}
	return t
}

// issueText reads a problem statement, which may stand between [ISSUE] marks.
func (l *taskLine) issueText(field string) string {
	text := l.need(field)
	if _, after, ok := strings.Cut(text, "[ISSUE]"); ok {
		if issue, _, ok := strings.Cut(after, "[/ISSUE]"); ok {
			return strings.TrimSpace(issue)
		}
	}
	return text
}

// colour matches the escapes that R2E-Gym removes from the names of tests.
var colour = regexp.MustCompile("\x1b\\[\\d+m")

// knownStatuses are the statuses that an expected outcome may have.
var knownStatuses = []relabel.TestStatus{relabel.TestPassed, relabel.TestFailed, relabel.TestError, relabel.TestSkipped, relabel.TestXFail, relabel.TestXPass}

// statuses reads an object of test to status, or a JSON string that holds one; nil without the field. As R2E-Gym does,
// it takes a name without colours and up to " - ".
func (l *taskLine) statuses(field string) map[string]relabel.TestStatus {
	l.used[field] = true
	if !l.has(field) {
		return nil
	}
	raw := l.object(field)
	var values map[string]string
	if json.Unmarshal(raw, &values) != nil {
		l.refuse(field, "is neither an object of statuses by test nor a JSON string that holds one")
		return nil
	}
	expected := make(map[string]relabel.TestStatus, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		status := relabel.TestStatus(values[name])
		if !slices.Contains(knownStatuses, status) {
			l.refuse(field, "%.80q of %.200q is not one of PASSED, FAILED, ERROR, SKIPPED, XFAIL, XPASS", status, name)
			return nil
		}
		short, _, _ := strings.Cut(colour.ReplaceAllString(name, ""), " - ")
		expected[l.checkText(field, raw, short)] = status
	}
	return expected
}

// commit is the change of a task as R2E-Gym stores it.
type commitDiff struct {
	FileDiffs []fileDiff `json:"file_diffs"`
}

type fileDiff struct {
	Header struct {
		File     struct{ Path string }
		MiscLine *string `json:"misc_line"`
	}
	IndexLine *struct {
		Old  string `json:"old_commit_hash"`
		New  string `json:"new_commit_hash"`
		Mode string
	} `json:"index_line"`
	Binary bool    `json:"is_binary_file"`
	Minus  *pathOf `json:"minus_file"`
	Plus   *pathOf `json:"plus_file"`
	Hunks  []commitDiffHunk
}

type pathOf struct{ Path string }

type commitDiffHunk struct {
	Descriptor struct {
		Old     lineRange `json:"old_range"`
		New     lineRange `json:"new_range"`
		Section string
	}
	LineGroup struct {
		Lines []struct{ Content, Type string } `json:"all_lines"`
	} `json:"line_group"`
}

type lineRange struct {
	Start  int
	Length *int
}

func (r lineRange) String() string {
	if r.Length == nil {
		return fmt.Sprint(r.Start)
	}
	return fmt.Sprintf("%d,%d", r.Start, *r.Length)
}

// commitPatch makes the gold patch of a stored commit: its Python files that are not tests, which R2E-Gym applies too.
func (l *taskLine) commitPatch(field string) string {
	l.used[field] = true
	if !l.has(field) {
		l.refuse(field, "is missing or empty")
		return ""
	}
	var c commitDiff
	raw := l.object(field)
	if json.Unmarshal(raw, &c) != nil {
		l.refuse(field, "is not a commit as R2E-Gym stores it")
		return ""
	}
	var b strings.Builder
	for _, f := range c.FileDiffs {
		if path := f.Header.File.Path; !f.Binary && strings.HasSuffix(path, ".py") && !isR2ETest(path) {
			f.write(&b)
		}
	}
	if b.Len() == 0 && len(l.problems) == 0 {
		l.refuse(field, "changes no Python file but tests, so the task has no gold patch")
	}
	return l.checkText(field, raw, b.String())
}

// isR2ETest reports whether R2E-Gym takes a file for a test.
func isR2ETest(file string) bool {
	parts := strings.Split(file, "/")
	name := parts[len(parts)-1]
	return strings.HasSuffix(file, "_test.py") || strings.HasPrefix(name, "test_") || slices.ContainsFunc(parts, func(part string) bool {
		return part == "test" || part == "tests" || part == "Test" || part == "Tests"
	})
}

// write writes the diff of a file.
func (f fileDiff) write(b *strings.Builder) {
	fmt.Fprintf(b, "diff --git a/%s b/%s\n", f.Header.File.Path, f.Header.File.Path)
	if f.Header.MiscLine != nil && *f.Header.MiscLine != "" {
		b.WriteString(*f.Header.MiscLine + "\n")
	}
	if f.IndexLine != nil {
		b.WriteString(strings.TrimRight("index "+f.IndexLine.Old+".."+f.IndexLine.New+" "+f.IndexLine.Mode, " ") + "\n")
	}
	if f.Minus != nil && f.Plus != nil {
		b.WriteString("--- " + f.Minus.Path + "\n+++ " + f.Plus.Path + "\n")
	}
	for _, h := range f.Hunks {
		b.WriteString(strings.TrimRight(fmt.Sprintf("@@ -%s +%s @@ %s", h.Descriptor.Old, h.Descriptor.New, h.Descriptor.Section), " ") + "\n")
		for _, line := range h.LineGroup.Lines {
			b.WriteString(diffSigns[line.Type] + line.Content + "\n")
		}
	}
}

// diffSigns are the signs of the kinds of lines that R2E-Gym stores.
var diffSigns = map[string]string{"context": " ", "added": "+", "deleted": "-", "note": `\ `}
