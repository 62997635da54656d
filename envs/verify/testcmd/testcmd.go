// Package testcmd reads and completes the test command of a task: its defaults, its words, and the
// arguments with which its runner writes a report.
package testcmd

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"relabel"
	"relabel/envs/verify/tree"
	"relabel/testlog"
)

// framework is the default test command of a repository.
type framework struct {
	command string // test files are appended
	parser  string
	name    func(file string) string // returns a test file as an argument; nil: the file itself
}

// pytestCommandLine uses python3 -m, which also finds packages at the root of the repository that
// are not installed.
const pytestCommandLine = "python3 -m pytest -rA -p no:cacheprovider --continue-on-collection-errors"

// frameworks are the repositories of SWE-bench and similar data sets that do not run plain pytest,
// or that have other test ids.
var frameworks = map[string]framework{
	"django/django":         {"./tests/runtests.py --verbosity 2 --settings=test_sqlite --parallel 1", "django", DjangoLabel},
	"sympy/sympy":           {"PYTHONWARNINGS='ignore::UserWarning,ignore::SyntaxWarning' bin/test -C --verbose", "sympy", nil},
	"matplotlib/matplotlib": {pytestCommandLine, "matplotlib", nil},
	"mwaskom/seaborn":       {pytestCommandLine, "pytest_v2", nil},
	"psf/requests":          {pytestCommandLine, "pytest_options", nil},
	"pylint-dev/pylint":     {pytestCommandLine, "pytest_options", nil},
}

// plainPytest tests every other repository.
var plainPytest = framework{pytestCommandLine, "pytest", nil}

// DefaultTestCommand is the test command of a task without one: the runner of its repository,
// otherwise pytest -rA, with the files of Files.
func DefaultTestCommand(task relabel.Task) string {
	f := frameworkOf(task)
	command := f.command
	for _, file := range Files(task) {
		if f.name != nil {
			file = f.name(file)
		}
		command += " " + Quote(file)
	}
	return command
}

// Of returns the task's test command and log parser, with the defaults.
func Of(task relabel.Task) (command, parser string) {
	command, parser = task.TestCmd, task.LogParser
	if strings.TrimSpace(command) == "" {
		command = DefaultTestCommand(task)
	}
	if parser == "" {
		parser = frameworkOf(task).parser
	}
	return command, parser
}

func frameworkOf(task relabel.Task) framework {
	if f, ok := frameworks[strings.ToLower(task.Repo)]; ok {
		return f
	}
	return plainPytest
}

// Files lists, sorted, the Python files with tests of the test patch and of the test ids.
func Files(task relabel.Task) []string {
	var files []string
	for _, f := range tree.PatchFiles(task.TestPatch) {
		if !f.Deleted && TestModule(f.Path) {
			files = append(files, f.Path)
		}
	}
	for _, id := range slices.Concat(task.FailToPass, task.PassToPass) {
		if file := FileOf(id); file != "" {
			files = append(files, file)
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// TestModule reports whether a file of a test patch is Python code that may contain tests.
func TestModule(file string) bool {
	base := path.Base(file)
	return path.Ext(base) == ".py" && base != "conftest.py" && base != "__init__.py"
}

// FileOf returns the file that a test id such as tests/test_a.py::test_b names, or "".
func FileOf(id string) string {
	file, _, ok := strings.Cut(id, "::")
	if !ok || !strings.HasSuffix(file, ".py") || tree.UnsafePath(file) {
		return ""
	}
	return file
}

// DjangoLabel returns tests/a/tests.py as a.tests, the form for runtests.py.
func DjangoLabel(file string) string {
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(file, "tests/"), ".py"), "/", ".")
}

var plainWord = regexp.MustCompile(`^[\w./+:@%-]+$`)

// Quote quotes a word for bash.
func Quote(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// RunnerOf is the runner whose logs a parser reads; "" if there is no parser of this name.
func RunnerOf(parserName string) testlog.Runner {
	p, _ := testlog.Find(parserName)
	return p.Runner
}
