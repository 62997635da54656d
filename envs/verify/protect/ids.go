package protect

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"relabel"
	"relabel/envs/verify/testcmd"
	"relabel/envs/verify/tree"
)

var (
	// dottedName matches the names of Python's modules, classes and functions.
	dottedName = regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$`)
	// inBrackets matches the class in an id such as "test_a (shop.tests.T)".
	inBrackets = regexp.MustCompile(`^[^\s(]+ \(([\w.]+)\)`)
)

// idFiles returns the files that test ids name by a path or by a dotted name, which it resolves
// against the base and the test patch. A file that the gold patch changes is code under test,
// unless it has the name of a test.
func (p protection) idFiles(task relabel.Task) []string {
	var files []string
	var open [][]string // names that are not resolved
	seen := map[string]bool{}
	for _, id := range slices.Concat(task.FailToPass, task.PassToPass) {
		file, candidates := p.nameOf(id)
		if file != "" {
			files = append(files, file)
			if !p.base.Files[file] && !p.patched[file] && !seen[file] {
				seen[file], open = true, append(open, []string{file})
			}
		}
		if len(candidates) == 0 || seen[candidates[0]] {
			continue
		}
		seen[candidates[0]] = true
		if found := p.resolve(candidates); len(found) > 0 {
			files = append(files, found...)
			continue
		}
		open = append(open, candidates)
	}
	files = append(files, p.endingIn(open)...)
	return slices.DeleteFunc(files, func(file string) bool {
		return p.gold[file] && !p.patched[file] && !testName.MatchString(path.Base(file))
	})
}

// nameOf returns the file that an id names, otherwise the candidates of its dotted name.
func (p protection) nameOf(id string) (file string, candidates []string) {
	if isDoctest(id) {
		return "", nil
	}
	if file = testcmd.FileOf(id); file != "" {
		return file, nil
	}
	if m := inBrackets.FindStringSubmatch(id); m != nil {
		return "", moduleCandidates(m[1], false)
	}
	for _, separator := range []string{" > ", "::", ":", " ", "#"} {
		if first, _, _ := strings.Cut(id, separator); p.base.Files[first] || p.patched[first] {
			return first, nil
		}
	}
	name, _, whole := strings.Cut(id, "::")
	if name, _, _ = strings.Cut(name, "["); dottedName.MatchString(name) {
		return "", moduleCandidates(name, whole)
	}
	return "", nil
}

// isDoctest reports whether an id of pytest names a doctest: pkg/core.py::pkg.core.add. Its file is
// code under test.
func isDoctest(id string) bool {
	_, rest, _ := strings.Cut(id, "::")
	name, _, _ := strings.Cut(rest, "[")
	return strings.Contains(name, ".") && dottedName.MatchString(name)
}

// moduleCandidates returns the files that may contain the class or function of a dotted name, the
// longest first, relative to a folder that modules are imported from. whole: the name may also be
// that of a module.
func moduleCandidates(name string, whole bool) []string {
	var candidates []string
	parts := strings.Split(name, ".")
	if whole {
		candidates = append(candidates, strings.Join(parts, "/")+".py")
	}
	for n := len(parts) - 1; n > 0; n-- {
		if module := strings.Join(parts[:n], "/"); inModule(parts[n]) {
			candidates = append(candidates, module+".py", module+"/__init__.py")
		}
	}
	return candidates
}

// inModule reports whether a part of a dotted name is a class or test function, not a module.
func inModule(part string) bool {
	bare := strings.TrimLeft(part, "_")
	return bare != strings.ToLower(bare) || strings.HasPrefix(bare, "test")
}

// resolve returns the files of the first candidate that exists in a folder that modules are
// imported from.
func (p protection) resolve(candidates []string) []string {
	var found []string
	for _, candidate := range candidates {
		for root := range p.roots {
			if file := path.Join(root, candidate); p.base.Files[file] || p.patched[file] {
				found = append(found, file)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	return found
}

// endingIn returns, for each name, the files of the base that end with its first candidate with
// such files. A candidate without a folder must match one file only. A candidate such as
// forms/__init__.py must be the whole path, because django/forms/__init__.py is code.
func (p protection) endingIn(names [][]string) []string {
	ends := map[string][]string{}
	for _, candidate := range slices.Concat(names...) {
		ends[candidate] = nil
	}
	if len(ends) == 0 {
		return nil
	}
	for file := range p.base.Files {
		if !strings.HasSuffix(file, ".py") {
			continue
		}
		for rest, more := file, true; more; _, rest, more = strings.Cut(rest, "/") {
			if _, is := ends[rest]; is && (rest == file || path.Base(rest) != "__init__.py" || strings.Count(rest, "/") > 1) {
				ends[rest] = append(ends[rest], file)
			}
		}
	}
	var found []string
	for _, candidates := range names {
		i := slices.IndexFunc(candidates, func(c string) bool { return len(ends[c]) == 1 || (len(ends[c]) > 1 && strings.Contains(c, "/")) })
		if i >= 0 {
			found = append(found, ends[candidates[i]]...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// takesPlace reports whether a file would be imported instead of a file or folder of the tests:
// tests/__init__.py instead of tests.py, or tests.py instead of a folder tests.
func (p protection) takesPlace(c tree.Change) bool {
	module, ok := moduleOf(c.Path)
	if ok && p.testPlaces[module] || c.NewMode == tree.LinkMode && p.testPlaces[c.Path] {
		return true
	}
	for dir := path.Dir(c.Path); dir != "."; dir = path.Dir(dir) {
		if p.testPlaces[dir] {
			return true
		}
	}
	return false
}

// placesOf returns the modules and folders of tests, without suffixes.
func placesOf(tests, folders map[string]bool) map[string]bool {
	places := maps.Clone(folders)
	for file := range tests {
		if module, ok := moduleOf(file); ok && path.Ext(file) != ".go" {
			places[module] = true
		}
	}
	return places
}
