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

// A module that a submission adds to a folder that modules are imported from hides an
// installed one of the same top-level name from the test runner. Below the top level a
// name hides nothing.

// shadowsModule drops files of a module that would hide an installed one and that the
// base has not.
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

// testModulesOf returns the names below which tests are imported: the first folders, below
// one that modules are imported from, on the way to files with tests.
func testModulesOf(tests, roots map[string]bool) map[string]bool {
	modules := maps.Clone(testFolders)
	for file := range tests {
		for root := range roots {
			rest, below := file, true
			if root != "." {
				rest, below = strings.CutPrefix(file, root+"/")
			}
			if first, _, nested := strings.Cut(rest, "/"); below && nested {
				modules[first] = true
			}
		}
	}
	return modules
}

// within reports whether a path lies in this folder of the base.
func (p protection) within(name, dir string) bool {
	return p.base.Folders[dir] && strings.HasPrefix(name, dir+"/")
}

// regular reports whether the base has a file or package of this name in the folder: what
// goes before a folder without __init__.
func (p protection) regular(root, module string) bool {
	dir := path.Join(root, module)
	return p.base.Files[dir+".py"] || isPackage(p.base, dir)
}

// moduleBelow returns the top-level name under which a file becomes importable from a
// folder. A folder counts with its __init__ alone, for without one an installed module goes
// first; a folder of tests without one may join another, and no installed module goes before
// one of an optional module.
func (p protection) moduleBelow(root string, c tree.Change) (module string, ok bool) {
	rest := c.Path
	if root != "." {
		if rest, ok = strings.CutPrefix(rest, root+"/"); !ok {
			return "", false
		}
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
	dir := path.Join(root, module)
	return p.regular(root, module) || p.base.Python[dir]
}

// own reports whether the repository has a module of this name in another folder that
// modules are imported from, but for folders of tests: the installed one is its own, and a
// submission may move it. Modules of test runners stay where they are.
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
	for _, suffix := range []string{".py", ".pyc", ".so", ".pyd", ".abi3.so"} {
		if s.Files[dir+"/__init__"+suffix] {
			return true
		}
	}
	return false
}

// importable reports whether the interpreter imports a file of this name.
func importable(base string) bool {
	switch path.Ext(base) {
	case ".py", ".pyc", ".so", ".pyd":
		return true
	}
	return false
}

// importRoots are the folders that modules are imported from: the repository, src and lib,
// what PYTHONPATH in the command and the interpreter name, and the folders that pytest adds
// for files with tests and conftest.py.
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

// packageRoots adds the folder that the package of a file lies in, before the submission
// and with it.
func (p protection) packageRoots(roots map[string]bool, file string) {
	for _, s := range []tree.PathSet{p.base, p.final} {
		dir := path.Dir(file)
		for dir != "." && isPackage(s, dir) {
			dir = path.Dir(dir)
		}
		roots[dir] = true
	}
}

// pythonPath returns the folders of the repository that a command sets PYTHONPATH to.
func pythonPath(command, workdir string) []string {
	var dirs []string
	for _, w := range testcmd.Words(command) {
		value, ok := strings.CutPrefix(w.Text, "PYTHONPATH=")
		if !ok {
			continue
		}
		for _, dir := range strings.Split(value, ":") {
			dir = strings.NewReplacer("$PWD", workdir, "$(pwd)", workdir, "${PWD}", workdir).Replace(dir)
			if !path.IsAbs(dir) {
				dir = path.Join(workdir, dir)
			}
			if rest, ok := strings.CutPrefix(dir+"/", path.Clean(workdir)+"/"); ok {
				dirs = append(dirs, path.Clean(rest))
			}
		}
	}
	return dirs
}
