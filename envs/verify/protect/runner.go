package protect

import (
	"maps"
	"path"
	"strings"

	"relabel/envs/verify/testcmd"
	"relabel/envs/verify/tree"
)

// settings are files that steer the test runner, the interpreter or the environment that
// they run in, whatever folder they are in.
var settings = tree.Set([]string{
	"conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "tox.toml", "setup.cfg", "pyproject.toml", "noxfile.py",
	".coveragerc", "nose.cfg", ".noserc", "unittest.cfg", ".env", ".envrc", ".python-version", ".pdbrc", "pyvenv.cfg", "hatch.toml", "uv.toml", "pdm.toml",
})

// steersRunner drops settings.
func (p protection) steersRunner(c tree.Change) string {
	if settings[path.Base(c.Path)] {
		return "configures the test runner or its environment"
	}
	for _, part := range strings.Split(c.Path, "/") {
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
	dirs, words := []string{"."}, testcmd.Words(command)
	for i, w := range words {
		if w.Text == "cd" && i+1 < len(words) {
			dirs = append(dirs, path.Clean(words[i+1].Text))
		}
		if w.Text == "make" || w.Text == "gmake" {
			maps.Copy(p.runs, makefiles)
			p.runs[anyScript] = true
		}
		if w.Text == "install" || w.Text == "build" || w.Text == "develop" {
			p.runs["setup.py"] = true
		}
		for _, dir := range dirs {
			name := path.Join(dir, w.Text)
			if !p.base.Files[name] {
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
func (p protection) isRun(c tree.Change) string {
	if p.runs[c.Path] {
		return "run or read by the test command"
	}
	if p.runs[anyScript] && scripts[path.Ext(c.Path)] {
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
func (p protection) isDistribution(c tree.Change) string {
	for _, part := range strings.Split(c.Path, "/") {
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
func (p protection) isInstalled(c tree.Change) string {
	for dir := path.Dir(c.Path); dir != "."; dir = path.Dir(dir) {
		base := path.Base(dir)
		if base == "site-packages" || base == "dist-packages" || p.base.Files[dir+"/pyvenv.cfg"] {
			return "in an environment with installed packages"
		}
	}
	return ""
}

// isCompiled drops compiled code, which the interpreter may prefer to the sources that
// are graded. A submission is text.
func (p protection) isCompiled(c tree.Change) string {
	switch strings.ToLower(path.Ext(c.Path)) {
	case ".pyc", ".pyo", ".so", ".pyd", ".dll", ".dylib":
		return "compiled code"
	}
	if strings.Contains("/"+c.Path, "/__pycache__/") {
		return "compiled code"
	}
	return ""
}
