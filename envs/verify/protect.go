package verify

import (
	"path"
	"regexp"
	"strings"

	"relabel"
)

// settings are files that steer the test runner or the interpreter, whatever folder
// they are in.
var settings = map[string]bool{
	"conftest.py": true, "pytest.ini": true, ".pytest.ini": true, "pytest.toml": true, ".pytest.toml": true,
	"tox.ini": true, "setup.cfg": true, "pyproject.toml": true,
	"sitecustomize.py": true, "usercustomize.py": true,
}

// testName is what files with tests are called in Python, Go and JavaScript.
var testName = regexp.MustCompile(`^(test_.*\.py|.*_test\.py|.*_test\.go|.*\.(test|spec)\.[cm]?[jt]sx?)$`)

// testFolders are the names of folders that hold tests and what they need.
var testFolders = map[string]bool{"test": true, "tests": true, "testing": true, "__tests__": true}

// runnerModules are modules of test runners. A submission that adds one at a place where
// modules are imported from hides the real one.
var runnerModules = map[string]bool{"pytest": true, "_pytest": true, "pluggy": true, "py": true, "iniconfig": true, "xdist": true, "unittest": true}

// protection knows which files a submission must not change for its tests. They are put
// back to what they were before it, which leaves alone what the gold patch itself
// changes.
type protection struct {
	tests   map[string]bool // files of the test patch and of the test ids
	folders map[string]bool // folders of tests that those files lie in
	gold    map[string]bool // paths that the gold patch touches
	runs    map[string]bool // scripts that the test command runs
	names   map[string]bool // what stood where modules are imported from, before the submission
}

// protectionOf is the protection of a task's tests. names are paths at the root of the
// repository and in its src and lib.
func protectionOf(task relabel.Task, names []string) protection {
	p := protection{tests: map[string]bool{}, folders: map[string]bool{}, gold: map[string]bool{}, runs: map[string]bool{}, names: map[string]bool{}}
	command, _ := testCommand(task)
	p.script(command)
	for _, n := range names {
		p.names[strings.TrimSuffix(n, ".py")] = true
	}
	gold, _ := patchFiles([]byte(task.Patch))
	for _, f := range gold {
		p.gold[f.path] = true
	}
	named, _ := patchFiles([]byte(task.TestPatch))
	for _, f := range named {
		p.test(f.path)
	}
	for _, list := range [][]string{task.FailToPass, task.PassToPass} {
		for _, id := range list {
			if file := fileOf(id); file != "" {
				p.test(file)
			}
		}
	}
	return p
}

// test notes a file with tests and the folder of tests around it: the innermost that is
// called so.
func (p protection) test(file string) {
	p.tests[file] = true
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if testFolders[path.Base(dir)] {
			p.folders[dir] = true
			return
		}
	}
}

// script notes the scripts that a command names by "./" or ".sh", and what make reads.
func (p protection) script(command string) {
	words := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n;&|()<>'\"", r) })
	for _, word := range words {
		switch {
		case word == "make":
			p.runs["Makefile"], p.runs["makefile"], p.runs["GNUmakefile"] = true, true, true
		case strings.HasPrefix(word, "./"), strings.HasSuffix(word, ".sh"):
			p.runs[path.Clean(word)] = true
		}
	}
}

// among returns the protected paths of a patch, in its order.
func (p protection) among(files []patchFile) []string {
	var protected []string
	for _, f := range files {
		if p.covers(f) {
			protected = append(protected, f.path)
		}
	}
	return protected
}

// covers reports whether a file that a submission touches is to be put back.
func (p protection) covers(f patchFile) bool {
	if p.tests[f.path] || p.nests(f.path) {
		return true
	}
	if p.gold[f.path] {
		return false
	}
	base := path.Base(f.path)
	if settings[base] || p.runs[f.path] || testName.MatchString(base) || p.hidesRunner(f.path) {
		return true
	}
	for dir := path.Dir(f.path); dir != "."; dir = path.Dir(dir) {
		if p.folders[dir] {
			return true
		}
	}
	return p.folders[f.path]
}

// nests reports whether a path lies below a test file's path or stands where a folder
// above it belongs: a submission can make a folder of the one, or a link of the other.
func (p protection) nests(name string) bool {
	for test := range p.tests {
		if strings.HasPrefix(test, name+"/") || strings.HasPrefix(name, test+"/") {
			return true
		}
	}
	return false
}

// hidesRunner reports whether a path is, or lies in, a module of a test runner that the
// repository did not have before.
func (p protection) hidesRunner(name string) bool {
	place, rest := "", name
	for _, dir := range []string{"src/", "lib/"} {
		if after, ok := strings.CutPrefix(name, dir); ok {
			place, rest = dir, after
		}
	}
	module, _, _ := strings.Cut(rest, "/")
	module = strings.TrimSuffix(module, ".py")
	return runnerModules[module] && !p.names[place+module]
}
