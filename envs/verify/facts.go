package verify

import (
	"path"
	"slices"
	"strings"
)

// facts is what inspect.py found in a container before any code of the submission was
// there. All is empty where the image has no Python.
type facts struct {
	modules map[string]bool // top-level modules that are installed, those of the standard library too
	paths   []string        // folders of the repository that modules are imported from
	plugins []string        // distributions with plugins of pytest
}

func parseFacts(output string) facts {
	f := facts{modules: map[string]bool{}}
	for _, line := range strings.Split(output, "\x00") {
		word, value, _ := strings.Cut(line, " ")
		switch word {
		case "name":
			f.modules[value] = true
		case "path":
			f.paths = append(f.paths, value)
		case "plugin":
			f.plugins = append(f.plugins, value)
		}
	}
	for _, name := range runnerModules {
		f.modules[name] = true
	}
	for name := range optionalModules {
		f.modules[name] = true
	}
	return f
}

// optionalModules are modules that pytest and the standard library import where there are any,
// and that are not installed: org of Jython, for example, which copy and pickle try to import.
var optionalModules = listed([]string{"org", "vms_lib", "argcomplete", "colorama", "pygments"})

// runnerModules stand for what is installed where no interpreter answers.
var runnerModules = []string{
	"pytest", "_pytest", "pluggy", "py", "iniconfig", "packaging", "attr", "attrs", "tomli", "exceptiongroup", "xdist", "pytest_cov", "coverage",
	"unittest", "nose", "django", "mpmath", "hypothesis", "sitecustomize", "usercustomize",
}

// known reports whether an interpreter answered.
func (f facts) known() bool { return f.modules["sys"] }

// condaRoots are where images of data sets have conda. testScript activates the environment
// testbed of the first that has one.
var condaRoots = []string{"/opt/miniconda3", "/opt/conda", "/root/miniconda3"}

// interpreters are the names of Python that a command says or implies, the likeliest first: those
// that it gives a path, then that of the environment which is activated before the tests run,
// then what is found by name alone, or is conda's own.
func interpreters(command string) []string {
	var named []string
	for _, w := range shellWords(command) {
		dir, base := path.Split(w.text)
		switch {
		case strings.HasPrefix(base, "python") && strings.Trim(base[len("python"):], "0123456789.") == "":
			named = append(named, w.text)
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
