package verify

import (
	"maps"
	"path"
	"strings"
)

// settings are files that steer the test runner, the interpreter or the environment that
// they run in, whatever folder they are in.
var settings = listed([]string{
	"conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "tox.toml", "setup.cfg", "pyproject.toml", "noxfile.py",
	".coveragerc", "nose.cfg", ".noserc", "unittest.cfg", ".env", ".envrc", ".python-version", ".pdbrc", "pyvenv.cfg", "hatch.toml", "uv.toml", "pdm.toml",
})

// steersRunner drops settings.
func (p protection) steersRunner(c change) string {
	if settings[path.Base(c.path)] {
		return "configures the test runner or its environment"
	}
	for _, part := range strings.Split(c.path, "/") {
		if hooks[part] {
			return "a package that the test runner or the interpreter loads by its name"
		}
	}
	return ""
}

// hooks are modules that are loaded by their names, as packages too.
var hooks = map[string]bool{"conftest": true, "sitecustomize": true, "usercustomize": true}

// named notes the files of the repository that a command names, and what a command that
// builds reads.
func (p protection) named(command string) {
	dirs, words := []string{"."}, shellWords(command)
	for i, w := range words {
		if w.text == "cd" && i+1 < len(words) {
			dirs = append(dirs, path.Clean(words[i+1].text))
		}
		if w.text == "make" || w.text == "gmake" {
			maps.Copy(p.runs, makefiles)
			p.runs[anyScript] = true
		}
		if w.text == "install" || w.text == "build" || w.text == "develop" {
			p.runs["setup.py"] = true
		}
		for _, dir := range dirs {
			name := path.Join(dir, w.text)
			if !p.base.files[name] {
				continue
			}
			p.runs[name] = true
			if ext := path.Ext(name); ext == "" || scripts[ext] {
				p.runs[anyScript] = true
			}
		}
	}
}

// isRun drops the files that the test command names, the files of make, and shell
// scripts: one may call another.
func (p protection) isRun(c change) string {
	if p.runs[c.path] {
		return "run or read by the test command"
	}
	if p.runs[anyScript] && scripts[path.Ext(c.path)] {
		return "a script, as the test command runs one"
	}
	return ""
}

// makefiles are what make reads.
var makefiles = map[string]bool{"Makefile": true, "makefile": true, "GNUmakefile": true}

// scripts are the suffixes of scripts that one of them may call or read; anyScript stands
// in protection.runs for all of them.
var scripts = map[string]bool{".sh": true, ".bash": true, ".mk": true}

const anyScript = "*.sh"

// isDistribution drops metadata of distributions, with which a submission registers
// plugins, and files that the interpreter runs when it starts.
func (p protection) isDistribution(c change) string {
	for _, part := range strings.Split(c.path, "/") {
		switch {
		case strings.HasPrefix(part, "__editable__"):
			return "metadata of a distribution"
		case strings.HasSuffix(part, ".pth"), strings.HasSuffix(part, "._pth"):
			return "read by the interpreter when it starts"
		}
		for _, suffix := range []string{".dist-info", ".egg-info", ".egg-link", ".egg"} {
			if strings.HasSuffix(part, suffix) {
				return "metadata of a distribution"
			}
		}
	}
	return ""
}

// isInstalled drops changes of packages that are installed in a folder of the repository.
func (p protection) isInstalled(c change) string {
	for dir := path.Dir(c.path); dir != "."; dir = path.Dir(dir) {
		base := path.Base(dir)
		if base == "site-packages" || base == "dist-packages" || p.base.files[dir+"/pyvenv.cfg"] {
			return "in an environment with installed packages"
		}
	}
	return ""
}

// isCompiled drops compiled code, which the interpreter may prefer to the sources that
// are graded. A submission is text.
func (p protection) isCompiled(c change) string {
	switch strings.ToLower(path.Ext(c.path)) {
	case ".pyc", ".pyo", ".so", ".pyd", ".dll", ".dylib":
		return "compiled code"
	}
	if strings.Contains("/"+c.path, "/__pycache__/") {
		return "compiled code"
	}
	return ""
}
