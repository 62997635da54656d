// Package testcmd knows how a task is tested: the test command with its defaults, its words, and how
// its runner is asked for a report.
package testcmd

import (
	"path"
	"slices"
	"strings"

	"relabel"
	"relabel/envs/verify/tree"
)

// framework is how a repository without a test command of its own is tested.
type framework struct {
	command string // the changed test files are appended
	parser  string
	name    func(file string) string // how the command wants a test file named
}

// pytestCommandLine goes by way of python3, which finds packages at the root of the
// repository whether they are installed or not.
const pytestCommandLine = "python3 -m pytest -rA -p no:cacheprovider --continue-on-collection-errors"

// frameworks are those of repositories that data sets of the SWE-bench family hold and
// that do not run plain pytest, or whose test ids are shortened.
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

// DefaultTestCommand is how a task that says nothing about it is tested: the runner of
// its repository, else pytest -rA, on the test files that its test patch and its test
// ids name.
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

// Files lists the Python files that the test patch leaves behind and looks like
// tests, and those that the test ids name.
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

// DjangoLabel writes tests/a/tests.py as a.tests, as runtests.py wants it.
func DjangoLabel(file string) string {
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(file, "tests/"), ".py"), "/", ".")
}

// Quote quotes a word for bash.
func Quote(s string) string {
	plain := strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./+:@%", r))
	}) < 0
	if plain && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// ShortParser is the name of a parser without the prefix that some data sets write.
func ShortParser(name string) string { return strings.TrimPrefix(name, "parse_log_") }
