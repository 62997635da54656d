package protect

import (
	"path"
	"regexp"
	"strings"

	"relabel"
	"relabel/envs/verify/testcmd"
	"relabel/envs/verify/tree"
)

// Helpers of tests are modules and folders of the base whose names say so, wherever they
// lie: pkg/testing.py, django/test/, internal/testutil/, test-utils/. Their code decides
// what a test asserts. Their names decide, and not who imports them: packages import their
// own pkg.testing to publish it.

var (
	// helperName matches such a name without case and separators.
	helperName = regexp.MustCompile(`^(test(s|ing)?` +
		`(utils?|utility|utilities|helpers?|libs?|support|kit|tools?|common|base|cases?|fixtures?|data|mocks?|fakes?|stubs?|factory|factories|asserts?|assertions?|matchers?|harness|client|server)*|` +
		`(utils?|helpers?|support)(for)?test(s|ing)?)$`)
	// lastWords matches names that end so, with underscores between words: internal_test_utils.
	lastWords = regexp.MustCompile(`_(test|tests|testing)_?(utils?|utilities|helpers?|support|fixtures?|data|lib|kit|mocks?|fakes?|stubs?)$`)
	// humps finds where a word begins by its capital alone.
	humps = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	// dataFolder matches the names of folders with what tests read or compare with.
	dataFolder = regexp.MustCompile(`^(fixtures|__fixtures__|__snapshots__|goldens?)$`)
	// nodeTestFolder matches names that only repositories on Node.js have for folders of tests.
	nodeTestFolder = regexp.MustCompile(`^(specs?|__specs__|e2e|cypress)$`)
	// separators stand between the words of a name.
	separators = strings.NewReplacer("_", "", "-", "", ".", "")
)

// moduleSuffixes are those under which the languages of the runners find one and the same
// module, the likeliest first.
var moduleSuffixes = []string{".py", ".pyi", ".pyx", ".go", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".json", ".vue"}

// isHelper drops changes of helpers of tests, and what would take the place of one. A helper
// is graded where the gold patch changes it, or another file in its folder, and where the
// task's tests test it: then it is the subject of the task. A new helper is a module as any.
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

// helperUnits returns the folders and the module of a path whose names are those of helpers.
// A module test or tests is none, as it is a command or has the tests of a template language
// as often: it is protected where ids name it. Instead of a folder it is one.
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

// helperFolder reports whether a folder of this name holds helpers or data of tests.
func (p protection) helperFolder(name string) bool {
	if is, known := p.helperFolders[name]; known {
		return is
	}
	lower := strings.ToLower(name)
	is := namesHelper(name) || dataFolder.MatchString(lower) ||
		testcmd.NodeParsers[p.parser] && nodeTestFolder.MatchString(lower)
	p.helperFolders[name] = is
	return is
}

// namesHelper reports whether a module or folder helps tests by its name.
func namesHelper(name string) bool {
	words := strings.ToLower(strings.ReplaceAll(humps.ReplaceAllString(name, "${1}_${2}"), "-", "_"))
	return helperName.MatchString(separators.Replace(words)) || lastWords.MatchString(words)
}

// moduleOf returns a path without the suffix of a module.
func moduleOf(name string) (module string, ok bool) {
	suffix := path.Ext(name)
	for _, s := range moduleSuffixes {
		if suffix == s {
			return strings.TrimSuffix(name, s), true
		}
	}
	return name, false
}

// hasModule reports whether the base has a folder or a module of this name, without suffix.
func (p protection) hasModule(module string) bool {
	if p.base.Folders[module] {
		return true
	}
	for _, suffix := range moduleSuffixes {
		if p.base.Files[module+suffix] {
			return true
		}
	}
	return false
}

// unitsOf returns the helpers that paths belong to.
func (p protection) unitsOf(paths map[string]bool) map[string]bool {
	units := map[string]bool{}
	for name := range paths {
		for _, unit := range p.helperUnits(name, false) {
			units[unit] = true
		}
	}
	return units
}

// subjects are what the tests test that the test patch changes or that must come to pass.
type subjects struct {
	folders map[string]bool // of their files
	names   map[string]bool // of their files, without "test"
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

// have reports whether a helper is tested: tests lie right in its folder, as those of a Go
// package do, or bear its name, as test_testing.py does.
func (s subjects) have(unit string) bool {
	return s.folders[unit] || s.names[strings.Trim(path.Base(unit), "_")]
}
