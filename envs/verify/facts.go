package verify

import (
	"path"
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

// interpreters are the names of Python that a command says or implies, the likeliest
// first.
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
	for i, name := range named {
		if strings.Contains(name, "/") && !path.IsAbs(name) {
			named[i] = "./" + path.Clean(name)
		}
	}
	for _, conda := range []string{"/opt/miniconda3", "/opt/conda", "/root/miniconda3"} {
		named = append(named, conda+"/envs/testbed/bin/python")
	}
	return append(named, "python3", "python")
}
