package testcmd

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"relabel/testlog"
)

// condaRoots are the folders of conda in images of data sets. The first environment testbed is
// activated.
var condaRoots = []string{"/opt/miniconda3", "/opt/conda", "/root/miniconda3"}

// Interpreters are the Python interpreters of a command, the most likely first: those with a path,
// then that of the environment testbed, then those without a path and conda's own.
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

// pytestCommand matches words that start pytest.
var pytestCommand = regexp.MustCompile(`(?:^|[\s;&|(])(?:\S*/)?(?:pytest|py\.test)(?:[\s;&|)]|$)`)

// Witnessed reports whether pytest can write a report: the command runs it once, and sets no reports
// or options from the environment. Text in the log cannot forge a report, and a process that ends
// early writes none.
func Witnessed(command, parserName string) bool {
	if RunnerOf(parserName) != testlog.Pytest {
		return false
	}
	for _, own := range []string{"junit", "PYTEST_ADDOPTS", "env -i", "tox"} {
		if strings.Contains(command, own) {
			return false
		}
	}
	return len(pytestCommand.FindAllString(command, 2)) == 1
}
