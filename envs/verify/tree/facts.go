package tree

import "strings"

// Facts is what inspect.py found in a container without code of the submission. It is empty if the
// image has no Python.
type Facts struct {
	Modules map[string]bool // installed top-level modules, with the standard library
	Paths   []string        // folders of the repository that modules are imported from
	Plugins []string        // distributions with plugins of pytest
}

// ParseFacts reads the fields that inspect.py prints, which end with NUL.
func ParseFacts(output string) Facts {
	f := Facts{Modules: map[string]bool{}}
	for _, line := range strings.Split(output, "\x00") {
		word, value, _ := strings.Cut(line, " ")
		switch word {
		case "name":
			f.Modules[value] = true
		case "path":
			f.Paths = append(f.Paths, value)
		case "plugin":
			f.Plugins = append(f.Plugins, value)
		}
	}
	for _, name := range RunnerModules {
		f.Modules[name] = true
	}
	for name := range OptionalModules {
		f.Modules[name] = true
	}
	return f
}

// OptionalModules are modules that pytest and the standard library import if they exist. For
// example, copy and pickle try to import Jython's org.
var OptionalModules = Set([]string{"org", "vms_lib", "argcomplete", "colorama", "pygments"})

// RunnerModules are always treated as installed.
var RunnerModules = []string{
	"pytest", "_pytest", "pluggy", "py", "iniconfig", "packaging", "attr", "attrs", "tomli", "exceptiongroup", "xdist", "pytest_cov", "coverage",
	"unittest", "nose", "django", "mpmath", "hypothesis", "sitecustomize", "usercustomize",
}

// Known reports whether the image has an interpreter.
func (f Facts) Known() bool { return f.Modules["sys"] }
