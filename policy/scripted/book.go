package scripted

import (
	"cmp"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"relabel"
	"relabel/gitdiff"
)

// Book has the gold patch of each task, which the models find by the problem statement.
type Book []*entry

// entry is one task in the book.
type entry struct {
	statement string
	workdir   string
	patch     string
	files     []gitdiff.File
	edits     []arguments // the patch as calls of the editor; nil if only git can apply it
	tests     string      // command that runs the relevant tests; "" if unknown
}

// NewBook makes a book of tasks. It uses ProblemStatement, Workdir, Patch, TestCmd and the names of
// the files in TestPatch. It skips a task without a statement or a complete patch.
func NewBook(tasks []relabel.Task) (b Book) {
	for _, t := range tasks {
		e := &entry{statement: strings.TrimSpace(t.ProblemStatement), workdir: path.Clean("/" + t.Workdir),
			patch: strings.TrimSuffix(t.Patch, "\n") + "\n", tests: testCommand(t)}
		var err error
		if e.files, err = gitdiff.Parse(e.patch); err != nil || e.statement == "" {
			continue
		}
		e.edits = e.editorCalls()
		b = append(b, e)
	}
	return b
}

// editorCalls returns the calls that make the whole patch; nil if a file is not plain.
func (e *entry) editorCalls() []arguments {
	var edits []arguments
	for _, f := range e.files {
		if !plain(f) {
			return nil
		}
		for _, h := range f.Hunks {
			if f.Old == "" {
				edits = append(edits, arguments{Command: "create", Path: e.abs(f), FileText: h.New()})
			} else {
				edits = append(edits, arguments{Command: "str_replace", Path: e.abs(f), OldStr: h.Old(), NewStr: h.New()})
			}
		}
	}
	return edits
}

// plain reports whether the editor can change a file: text that is replaced hunk by hunk, or a new
// text file.
func plain(f gitdiff.File) bool {
	created := f.Old == "" && len(f.Hunks) == 1 && (f.NewMode == "" || f.NewMode == "100644")
	if f.Binary || len(f.Hunks) == 0 || !created && (f.New != f.Old || f.OldMode+f.NewMode != "") {
		return false
	}
	for _, h := range f.Hunks {
		if old := h.Old(); !created && old == "" || !utf8.ValidString(old+h.New()) {
			return false
		}
	}
	return true
}

// name is a file's path after the patch, or before it if the patch deletes the file.
func name(f gitdiff.File) string { return cmp.Or(f.New, f.Old) }

// abs is the path of a file in the sandbox.
func (e *entry) abs(f gitdiff.File) string { return path.Join(e.workdir, name(f)) }

// find returns the task whose statement is part of the opening; the longest of several, because
// one statement may contain another.
func (b Book) find(opening string) (found *entry) {
	for _, e := range b {
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
	files, _ := gitdiff.Parse(t.TestPatch) // without it, all tests run
	for _, f := range files {
		stem, python := strings.CutSuffix(path.Base(f.New), ".py")
		if python && f.Old != "" && plain(f) && plainStem.MatchString(stem) {
			stems = append(stems, stem)
		}
	}
	if len(stems) > 0 && strings.Contains(cmd, "pytest") {
		cmd += ` -k "` + strings.Join(stems, " or ") + `"`
	}
	// Compiled files would stay in the tree and become part of the submission.
	return "export PYTHONDONTWRITEBYTECODE=1; (" + cmd + ") 2>&1 | tail -n 15"
}

// show prints the state of the tree.
const show = "git -c core.quotePath=false status --porcelain --no-renames -uall && git --no-pager diff --no-renames HEAD"

// reset undoes every change of tracked files and removes the files that the gold patch adds.
func (e *entry) reset() string {
	cmd := "set -e\ngit reset -q\ngit checkout -q HEAD -- .\n"
	for _, f := range e.files {
		if f.Old != f.New && f.New != "" {
			cmd += "rm -f " + quote(f.New) + "\n"
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
