package protect

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"relabel"
	"relabel/envs/verify/testcmd"
	"relabel/envs/verify/tree"
)

// Helpers of tests are modules and folders of the base with certain names, in any folder:
// pkg/testing.py, django/test/, internal/testutil/, test-utils/. Importers do not matter, because
// packages import their own pkg.testing to publish it.
var (
	// helperName matches names of helpers, in lower case and without separators.
	helperName = regexp.MustCompile(`^(test(s|ing)?` +
		`(utils?|utility|utilities|helpers?|libs?|support|kit|tools?|common|base|cases?|fixtures?|data|mocks?|fakes?|stubs?|factory|factories|asserts?|assertions?|matchers?|harness|client|server)*|` +
		`(utils?|helpers?|support)(for)?test(s|ing)?)$`)
	// lastWords matches names of helpers by their end, with underscores: internal_test_utils.
	lastWords = regexp.MustCompile(`_(test|tests|testing)_?(utils?|utilities|helpers?|support|fixtures?|data|lib|kit|mocks?|fakes?|stubs?)$`)
	// humps matches the begin of a word in camel case.
	humps = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	// dataFolder matches names of folders with data of tests.
	dataFolder = regexp.MustCompile(`^(fixtures|__fixtures__|__snapshots__|goldens?)$`)
	// nodeTestFolder matches names of folders with tests in repositories of Node.js.
	nodeTestFolder = regexp.MustCompile(`^(specs?|__specs__|e2e|cypress)$`)
	// separators removes the separators between words.
	separators = strings.NewReplacer("_", "", "-", "", ".", "")
)

// moduleSuffixes are the suffixes with which a name can be the same module.
var moduleSuffixes = []string{".py", ".pyi", ".pyx", ".go", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".json", ".vue"}

// isHelper drops changes of helpers, and files that would be imported instead of a helper. A helper
// is graded if the gold patch changes it or a file in its folder, or if the task's tests test it. A
// new module is not a helper.
func (p protection) isHelper(c tree.Change) string {
	for _, unit := range p.helperUnits(c.Path, c.NewMode == tree.LinkMode) {
		if !p.goldUnits[unit] && p.hasModule(unit) && !p.subjects.have(unit) {
			return "a helper of tests, which the gold patch does not change"
		}
	}
	module, _ := moduleOf(c.Path)
	for unit := module; unit != "." && len(p.testOnly) > 0; unit = path.Dir(unit) {
		if p.testOnly[unit] {
			return "nothing but tests imports it, and the gold patch does not change it"
		}
	}
	if strings.HasSuffix(c.Path, ".golden") && !c.Added() {
		return "data that tests compare with"
	}
	return ""
}

// helperUnits returns the folders and the module of a path that have names of helpers. A module
// test or tests does not count, because it may be a command or a part of a template language,
// unless it would be imported instead of a folder.
func (p protection) helperUnits(name string, link bool) []string {
	var units []string
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if p.helperFolder(path.Base(dir)) {
			units = append(units, dir)
		}
	}
	module, ok := moduleOf(name)
	stem := strings.ToLower(path.Base(module))
	if (ok || link) && namesHelper(path.Base(module)) && (p.base.Folders[module] || stem != "test" && stem != "tests") {
		units = append(units, module)
	}
	return units
}

// helps reports whether a file is a module that helps tests.
func (p protection) helps(file string) bool {
	_, module := moduleOf(file)
	return module && len(p.helperUnits(file, false)) > 0
}

// helperFolder reports whether a folder of this name contains helpers or data of tests.
func (p protection) helperFolder(name string) bool {
	if is, known := p.helperFolders[name]; known {
		return is
	}
	lower := strings.ToLower(name)
	is := namesHelper(name) || dataFolder.MatchString(lower) ||
		p.runner.OnNode() && nodeTestFolder.MatchString(lower)
	p.helperFolders[name] = is
	return is
}

// namesHelper reports whether a module or folder has the name of a helper.
func namesHelper(name string) bool {
	words := strings.ToLower(strings.ReplaceAll(humps.ReplaceAllString(name, "${1}_${2}"), "-", "_"))
	return helperName.MatchString(separators.Replace(words)) || lastWords.MatchString(words)
}

// moduleOf removes the suffix of a module from a path.
func moduleOf(name string) (module string, ok bool) {
	if suffix := path.Ext(name); slices.Contains(moduleSuffixes, suffix) {
		return strings.TrimSuffix(name, suffix), true
	}
	return name, false
}

// hasModule reports whether the base has a folder or a module of this name, without suffix.
func (p protection) hasModule(module string) bool {
	isFile := func(suffix string) bool { return p.base.Files[module+suffix] }
	return p.base.Folders[module] || slices.ContainsFunc(moduleSuffixes, isFile)
}

// unitsOf returns the helpers of paths.
func (p protection) unitsOf(paths map[string]bool) map[string]bool {
	units := map[string]bool{}
	for name := range paths {
		for _, unit := range p.helperUnits(name, false) {
			units[unit] = true
		}
	}
	return units
}

// subjects describes the files of the test patch and of FAIL_TO_PASS.
type subjects struct {
	folders map[string]bool // their folders
	names   map[string]bool // their names, without "test"
}

func subjectsOf(task relabel.Task) subjects {
	files := tree.PatchPaths(task.TestPatch)
	for _, id := range task.FailToPass {
		files = append(files, testcmd.FileOf(id))
	}
	s := subjects{folders: map[string]bool{}, names: map[string]bool{}}
	for _, file := range files {
		if base := path.Base(file); testName.MatchString(base) {
			s.folders[path.Dir(file)] = true
			stem, _, _ := strings.Cut(base, ".")
			s.names[strings.Trim(strings.TrimSuffix(strings.TrimPrefix(stem, "test_"), "_test"), "_")] = true
		}
	}
	return s
}

// have reports whether tests test a helper: they are in its folder, as in a Go package, or have its
// name, such as test_testing.py.
func (s subjects) have(unit string) bool {
	return s.folders[unit] || s.names[strings.Trim(path.Base(unit), "_")]
}
