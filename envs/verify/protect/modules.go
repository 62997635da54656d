package protect

import (
	"maps"
	"path"
	"slices"
	"strings"

	"relabel"
	"relabel/envs/verify/testcmd"
	"relabel/envs/verify/tree"
)

// A new module in a folder that modules are imported from hides an installed module of the same
// top-level name. Only top-level names hide modules.

// shadowsModule drops files of new modules that would hide an installed module or a folder with
// tests.
func (p protection) shadowsModule(c tree.Change) string {
	if c.Deleted() {
		return ""
	}
	for root := range p.roots {
		if c.NewMode == tree.LinkMode && (root == c.Path || strings.HasPrefix(root, c.Path+"/")) {
			return "a link in the place of a folder that modules are imported from"
		}
		module, ok := p.moduleBelow(root, c)
		switch {
		case !ok:
		case p.facts.Modules[module] && !p.baseModule(root, module) && !p.own(module):
			return "would hide the installed module " + module
		case p.testModules[module] && !p.regular(root, module) && !p.within(c.Path, path.Join(root, module)):
			return "would hide the folder " + module + " with tests"
		}
	}
	return ""
}

// testModulesOf returns the top-level names of the modules of tests.
func testModulesOf(tests, roots map[string]bool) map[string]bool {
	modules := maps.Clone(testFolders)
	for file := range tests {
		for root := range roots {
			rest, below := relativeTo(root, file)
			if first, _, nested := strings.Cut(rest, "/"); below && nested {
				modules[first] = true
			}
		}
	}
	return modules
}

// relativeTo returns a path relative to a root, if it is below the root.
func relativeTo(root, name string) (rest string, below bool) {
	if root == "." {
		return name, true
	}
	return strings.CutPrefix(name, root+"/")
}

// within reports whether a path is in a folder of the base.
func (p protection) within(name, dir string) bool {
	return p.base.Folders[dir] && strings.HasPrefix(name, dir+"/")
}

// regular reports whether the base has a file or package of this name in the folder, which takes
// precedence over a folder without __init__.
func (p protection) regular(root, module string) bool {
	dir := path.Join(root, module)
	return p.base.Files[dir+".py"] || isPackage(p.base, dir)
}

// moduleBelow returns the top-level name with which a file can be imported from a folder. Installed
// modules take precedence over folders without __init__. But a folder of tests may join another
// one, and optional modules may not be installed.
func (p protection) moduleBelow(root string, c tree.Change) (module string, ok bool) {
	rest, below := relativeTo(root, c.Path)
	if !below {
		return "", false
	}
	first, _, nested := strings.Cut(rest, "/")
	if !nested {
		module, _, _ = strings.Cut(first, ".")
		return module, importable(first) || c.NewMode == tree.LinkMode
	}
	return first, isPackage(p.final, path.Join(root, first)) || testFolders[first] || tree.OptionalModules[first]
}

// baseModule reports whether the base has a module of this name in the folder.
func (p protection) baseModule(root, module string) bool {
	return p.regular(root, module) || p.base.Python[path.Join(root, module)]
}

// own reports whether the repository has a module of this name outside of tests: the installed one
// is its own, and a submission may move it. Modules of test runners may not be moved.
func (p protection) own(module string) bool {
	if slices.Contains(tree.RunnerModules, module) {
		return false
	}
	for root := range p.roots {
		if !p.inTests(root) && p.baseModule(root, module) {
			return true
		}
	}
	return false
}

// isPackage reports whether a folder has an __init__.
func isPackage(s tree.PathSet, dir string) bool {
	if !s.Folders[dir] {
		return false
	}
	return slices.ContainsFunc([]string{".py", ".pyc", ".so", ".pyd", ".abi3.so"}, func(suffix string) bool {
		return s.Files[dir+"/__init__"+suffix]
	})
}

// importable reports whether the interpreter imports a file of this name.
func importable(base string) bool {
	switch path.Ext(base) {
	case ".py", ".pyc", ".so", ".pyd":
		return true
	}
	return false
}

// importRoots are the folders that modules are imported from: the repository, src, lib, those of
// PYTHONPATH and of the interpreter, and those that pytest adds for test files and conftest.py.
func (p protection) importRoots(task relabel.Task, command string) map[string]bool {
	roots := map[string]bool{".": true, "src": true, "lib": true}
	for _, dir := range append(pythonPath(command, task.Workdir), pythonPath(task.EvalScript, task.Workdir)...) {
		roots[dir] = true
	}
	for _, dir := range p.facts.Paths {
		roots[path.Clean(dir)] = true
	}
	for file := range p.tests {
		p.packageRoots(roots, file)
	}
	for file := range p.base.Files {
		if path.Base(file) == "conftest.py" {
			p.packageRoots(roots, file)
		}
	}
	return roots
}

// packageRoots adds the folder that contains the package of a file, without and with the
// submission.
func (p protection) packageRoots(roots map[string]bool, file string) {
	for _, s := range []tree.PathSet{p.base, p.final} {
		dir := path.Dir(file)
		for dir != "." && isPackage(s, dir) {
			dir = path.Dir(dir)
		}
		roots[dir] = true
	}
}

// pythonPath returns the folders of the repository in a command's PYTHONPATH.
func pythonPath(command, workdir string) []string {
	var dirs []string
	variables := strings.NewReplacer("$PWD", workdir, "$(pwd)", workdir, "${PWD}", workdir)
	for _, w := range testcmd.Words(command) {
		value, ok := strings.CutPrefix(w.Text, "PYTHONPATH=")
		if !ok {
			continue
		}
		for _, dir := range strings.Split(value, ":") {
			if dir = variables.Replace(dir); !path.IsAbs(dir) {
				dir = path.Join(workdir, dir)
			}
			if rest, ok := strings.CutPrefix(dir+"/", path.Clean(workdir)+"/"); ok {
				dirs = append(dirs, path.Clean(rest))
			}
		}
	}
	return dirs
}
