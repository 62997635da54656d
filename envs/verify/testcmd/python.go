package testcmd

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// condaRoots are where images of data sets have conda. testScript activates the environment
// testbed of the first that has one.
var condaRoots = []string{"/opt/miniconda3", "/opt/conda", "/root/miniconda3"}

// Interpreters are the names of Python that a command says or implies, the likeliest first: those
// that it gives a path, then that of the environment which is activated before the tests run,
// then what is found by name alone, or is conda's own.
func Interpreters(command string) []string {
	var named []string
	for _, w := range Words(command) {
		dir, base := path.Split(w.Text)
		switch {
		case strings.HasPrefix(base, "python") && strings.Trim(base[len("python"):], "0123456789.") == "":
			named = append(named, w.Text)
		case dir != "" && (base == "pytest" || base == "py.test" || base == "activate"):
			named = append(named, dir+"python")
		case base == "uv" || base == "poetry" || base == "pdm" || base == "hatch" || base == "pipenv":
			named = append(named, ".venv/bin/python")
		}
	}
	var first, last []string
	for _, name := range named {
		switch {
		case !strings.Contains(name, "/"), slices.ContainsFunc(condaRoots, func(root string) bool { return path.Dir(name) == root+"/bin" }):
			last = append(last, name)
		case path.IsAbs(name):
			first = append(first, name)
		default:
			first = append(first, "./"+path.Clean(name))
		}
	}
	for _, root := range condaRoots {
		first = append(first, root+"/envs/testbed/bin/python")
	}
	return slices.Concat(first, last, []string{"python3", "python"})
}

// pytestCommand finds each word of a command that starts pytest.
var pytestCommand = regexp.MustCompile(`(?:^|[\s;&|(])(?:\S*/)?(?:pytest|py\.test)(?:[\s;&|)]|$)`)

// Witnessed reports whether pytest can be asked for a report of its own beside the log:
// it is the one thing that the command runs, and the command says nothing about reports
// or options from the environment. The report is what text in the log cannot forge, and
// what a process that ends itself early never writes.
func Witnessed(command, parserName string) bool {
	parserName = strings.TrimPrefix(parserName, "parse_log_")
	if !strings.HasPrefix(parserName, "pytest") && parserName != "matplotlib" {
		return false
	}
	for _, own := range []string{"junit", "PYTEST_ADDOPTS", "env -i", "tox"} {
		if strings.Contains(command, own) {
			return false
		}
	}
	return len(pytestCommand.FindAllString(command, 2)) == 1
}
