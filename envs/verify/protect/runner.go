package protect

import (
	"maps"
	"path"
	"strings"

	"relabel/envs/verify/testcmd"
	"relabel/envs/verify/tree"
)

// settings are files that control the test runner, the interpreter or their environment, in any
// folder.
var settings = tree.Set([]string{
	"conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "tox.toml", "setup.cfg", "pyproject.toml", "noxfile.py",
	".coveragerc", "nose.cfg", ".noserc", "unittest.cfg", ".env", ".envrc", ".python-version", ".pdbrc", "pyvenv.cfg", "hatch.toml", "uv.toml", "pdm.toml",
	"phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml", ".rspec", ".minitest", "cucumber.yml", "junit-platform.properties", ".runsettings",
	".mocharc.js", ".mocharc.cjs", ".mocharc.json", ".mocharc.jsonc", ".mocharc.yml", ".mocharc.yaml", "karma.conf.js", "karma.conf.cjs", "karma.conf.mjs", "karma.conf.ts",
	"ava.config.js", "ava.config.cjs", "ava.config.mjs", "jasmine.json", ".taprc", "nextest.toml", "CTestCustom.cmake", "CTestCustom.ctest",
})

// steersRunner drops settings and hooks.
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

// hooks are modules or packages that are loaded by name.
var hooks = map[string]bool{"conftest": true, "sitecustomize": true, "usercustomize": true}

// named records the files of the repository that a command names, and the files that make or a
// build reads.
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

// isRun drops the files that the test command names, and all scripts if it runs one, because one
// may call another.
func (p protection) isRun(c tree.Change) string {
	if p.runs[c.Path] {
		return "run or read by the test command"
	}
	if p.runs[anyScript] && scripts[path.Ext(c.Path)] {
		return "a script, as the test command runs one"
	}
	return ""
}

var makefiles = map[string]bool{"Makefile": true, "makefile": true, "GNUmakefile": true}

// scripts are the suffixes of scripts. anyScript in protection.runs stands for all of them.
var scripts = map[string]bool{".sh": true, ".bash": true, ".mk": true}

const anyScript = "*.sh"

// isDistribution drops metadata of distributions, which can register plugins, and files that the
// interpreter runs when it starts.
func (p protection) isDistribution(c tree.Change) string {
	for part := range strings.SplitSeq(c.Path, "/") {
		if strings.HasPrefix(part, "__editable__") {
			return "metadata of a distribution"
		}
		switch path.Ext(part) {
		case ".pth", "._pth":
			return "read by the interpreter when it starts"
		case ".dist-info", ".egg-info", ".egg-link", ".egg":
			return "metadata of a distribution"
		}
	}
	return ""
}

// isInstalled drops changes of installed packages in the repository.
func (p protection) isInstalled(c tree.Change) string {
	for dir := path.Dir(c.Path); dir != "."; dir = path.Dir(dir) {
		base := path.Base(dir)
		if base == "site-packages" || base == "dist-packages" || p.base.Files[dir+"/pyvenv.cfg"] {
			return "in an environment with installed packages"
		}
	}
	return ""
}

// isCompiled drops compiled code, which the interpreter may prefer to graded sources.
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
