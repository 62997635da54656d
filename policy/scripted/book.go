package scripted

import (
	"encoding/json"
	"path"
	"regexp"
	"strings"

	"relabel"
)

// Book holds the gold patch of each task, which the models find by the problem statement.
type Book struct{ entries []*entry }

// entry is one task in the book.
type entry struct {
	statement string
	workdir   string
	patch     string
	files     []filePatch
	edits     []edit // the patch as calls of the editor; nil where only git can apply it
	tests     string // command that runs the relevant tests; "" where none is known
}

// edit puts one hunk, or one new file, in place.
type edit struct {
	path string
	call call
	args stepArgs
}

// NewBook makes a book of tasks. It uses ProblemStatement, Workdir, Patch, TestCmd and the names of
// the files in TestPatch. It skips a task without a statement or a readable patch.
func NewBook(tasks []relabel.Task) *Book {
	b := &Book{}
	for _, t := range tasks {
		e := &entry{statement: strings.TrimSpace(t.ProblemStatement), workdir: path.Clean("/" + t.Workdir),
			patch: strings.TrimSuffix(t.Patch, "\n") + "\n", tests: testCommand(t)}
		e.files = parsePatch(e.patch)
		if e.statement == "" || len(e.files) == 0 {
			continue
		}
		e.edits = e.editorCalls()
		b.entries = append(b.entries, e)
	}
	return b
}

// editorCalls returns the calls that make the whole patch; nil where a file is not plain.
func (e *entry) editorCalls() []edit {
	var edits []edit
	for _, f := range e.files {
		if !f.plain {
			return nil
		}
		for _, h := range f.hunks {
			c := replace(e.abs(f.path), h.old, h.new)
			if f.old == "" {
				c = create(e.abs(f.path), h.new)
			}
			x := edit{path: f.path, call: c}
			if json.Unmarshal([]byte(c.args), &x.args) != nil {
				return nil
			}
			edits = append(edits, x)
		}
	}
	return edits
}

// find returns the task whose statement is part of the opening; the longest of several, because
// one statement may contain another.
func (b *Book) find(opening string) *entry {
	var found *entry
	for _, e := range b.entries {
		if strings.Contains(opening, e.statement) && (found == nil || len(e.statement) > len(found.statement)) {
			found = e
		}
	}
	return found
}

var plainStem = regexp.MustCompile(`^\w+$`)

// testCommand is the task's test command. With pytest it is limited to the files of the test patch.
func testCommand(t relabel.Task) string {
	cmd := strings.TrimSpace(t.TestCmd)
	if cmd == "" {
		return ""
	}
	var stems []string
	for _, f := range parsePatch(t.TestPatch) {
		stem, python := strings.CutSuffix(path.Base(f.path), ".py")
		if python && f.plain && f.old != "" && plainStem.MatchString(stem) {
			stems = append(stems, stem)
		}
	}
	if len(stems) > 0 && strings.Contains(cmd, "pytest") {
		cmd += ` -k "` + strings.Join(stems, " or ") + `"`
	}
	// Compiled files would stay in the tree and become part of the submission.
	return "export PYTHONDONTWRITEBYTECODE=1; (" + cmd + ") 2>&1 | tail -n 15"
}

// touches reports whether the gold patch changes a path.
func (e *entry) touches(name string) bool {
	for _, f := range e.files {
		if f.path == name || f.old == name {
			return true
		}
	}
	return false
}

// abs is the path of a file in the sandbox.
func (e *entry) abs(name string) string { return path.Join(e.workdir, name) }

// show prints the state of the tree.
const show = "git -c core.quotePath=false status --porcelain --no-renames -uall && git --no-pager diff --no-renames HEAD"

// reset undoes every change of tracked files and removes the files that the gold patch adds.
func (e *entry) reset() string {
	cmd := "set -e\ngit reset -q\ngit checkout -q HEAD -- .\n"
	for _, f := range e.files {
		if f.old != f.path {
			cmd += "rm -f " + quote(f.path) + "\n"
		}
	}
	return cmd
}

// apply resets the tree, removes litter, applies the whole gold patch and shows the tree.
func (e *entry) apply(litter []string) call {
	cmd := e.reset()
	for _, name := range litter {
		cmd += "rm -rf " + quote(name) + "\n"
	}
	return bash(cmd + gitApply(e.patch) + "\n" + show)
}
