// Package protect decides which changes of a submission are not graded: tests, their data, and files
// that control the test run.
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
	"relabel/testlog"
)

// testName matches the names of test files in Python, Go and JavaScript.
var testName = regexp.MustCompile(`^(test_.*\.py|.*_test\.py|.*_test\.go|.*\.(test|spec)\.[cm]?[jt]sx?)$`)

// testFolders are the names of folders with tests and their data.
var testFolders = map[string]bool{"test": true, "tests": true, "testing": true, "__tests__": true}

// protection decides which changes of a submission are not graded.
type protection struct {
	task     relabel.Task
	commands string          // the test command and the evaluation script
	runner   testlog.Runner  // of the tests
	tests    map[string]bool // files of the test patch and of the test ids
	above    map[string]bool // folders above tests
	folders  map[string]bool // the innermost folder around each of tests that is named like tests
	gold     map[string]bool // paths of the gold patch
	patched  map[string]bool // paths of the test patch
	runs     map[string]bool // files that the test command names or calls
	base     tree.PathSet    // the repository without the submission
	final    tree.PathSet    // the repository with all of the submission
	facts    tree.Facts
	roots    map[string]bool // folders that modules are imported from

	loaded        map[string]bool  // modules that the base's settings of the runner name
	chosen        []*regexp.Regexp // patterns of test files in the base's settings of the runner
	exported      map[string]bool  // names of modules that the base's package.json exports, while it is compared
	testModules   map[string]bool  // top-level names of the modules of tests
	testPlaces    map[string]bool  // modules and folders of tests, without suffixes
	subjects      subjects         // modules that the task's tests test
	goldUnits     map[string]bool  // helpers that the gold patch changes
	testOnly      map[string]bool  // modules and folders that only tests import
	helperFolders map[string]bool  // a cache: whether names of folders are those of helpers
}

// rules apply in order; the first that returns a reason drops the change.
var rules = []func(protection, tree.Change) string{
	protection.isWithheld, protection.isTest, protection.isGold, protection.isTestLike, protection.isOtherTest, protection.isHelper, protection.steersRunner, protection.isRun,
	protection.isDistribution, protection.isInstalled, protection.isCompiled, protection.isHidden, protection.shadowsModule,
	protection.steersGit, protection.steersGo, protection.steersBuild, protection.steersNode, protection.linksToTests, protection.looksLikeProtected,
}

// graded is what a rule returns for a change that is graded in spite of later rules.
const graded = "graded"

func protectionOf(task relabel.Task, r tree.Reading) protection {
	p := protection{
		task: task, tests: map[string]bool{}, above: map[string]bool{}, folders: map[string]bool{}, runs: map[string]bool{},
		helperFolders: map[string]bool{}, subjects: subjectsOf(task),
		gold: tree.Set(tree.PatchPaths(task.Patch)), patched: tree.Set(tree.PatchPaths(task.TestPatch)),
		base: r.Base, final: finalPaths(r), facts: r.Facts,
	}
	for name := range p.patched {
		p.test(name)
	}
	command, parserName := testcmd.Of(task)
	p.runner = testcmd.RunnerOf(parserName)
	p.commands = command + "\n" + task.EvalScript
	p.named(command)
	p.named(task.EvalScript)
	for _, id := range slices.Concat(task.FailToPass, task.PassToPass) {
		if isDoctest(id) {
			delete(p.runs, testcmd.FileOf(id))
		}
	}
	p.roots = p.importRoots(task, command)
	for _, file := range p.idFiles(task) {
		p.test(file)
	}
	p.roots = p.importRoots(task, command)
	p.testModules = testModulesOf(p.tests, p.roots)
	p.testPlaces = placesOf(p.tests, p.folders)
	p.goldUnits = p.unitsOf(p.gold)
	return p
}

// finalPaths are the paths of the repository with the submission.
func finalPaths(r tree.Reading) tree.PathSet {
	files := maps.Clone(r.Base.Files)
	for _, c := range r.Changes {
		if c.Deleted() {
			delete(files, c.Path)
		} else {
			files[c.Path] = true
		}
	}
	return tree.NewPathSet(slices.Collect(maps.Keys(files)))
}

// test records a test file, and the innermost folder around it that is named like tests.
func (p protection) test(file string) {
	p.tests[file] = true
	innermost := ""
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		p.above[dir] = true
		if innermost == "" && testFolders[path.Base(dir)] {
			innermost = dir
			p.folders[dir] = true
		}
	}
}

// split returns the changes that are not graded.
func (p protection) split(changes []tree.Change) []Restored {
	var dropped []Restored
	for _, c := range changes {
		if reason := p.reason(c); reason != "" {
			dropped = append(dropped, atBase(c, reason))
		}
	}
	return dropped
}

// reason tells why a change is not graded; "" if it is.
func (p protection) reason(c tree.Change) string {
	for _, rule := range rules {
		switch reason := rule(p, c); reason {
		case "":
		case graded:
			return ""
		default:
			return reason
		}
	}
	return ""
}

// isTest drops files that the test patch or a test id names, and paths below such a file or in the
// place of a folder above it: a submission can replace a file by a folder, or a folder by a link.
func (p protection) isTest(c tree.Change) string {
	if p.tests[c.Path] || p.nests(c.Path) {
		return "a file of the task's tests"
	}
	return ""
}

func (p protection) nests(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if p.tests[dir] {
			return true
		}
	}
	return p.above[name]
}

// isGold grades the paths of the gold patch.
func (p protection) isGold(c tree.Change) string {
	if p.gold[c.Path] {
		return graded
	}
	return ""
}

// isTestLike drops files with names of tests, files in folders of the task's tests, and files that
// would be imported instead of them.
func (p protection) isTestLike(c tree.Change) string {
	if testName.MatchString(path.Base(c.Path)) {
		return "a file with tests"
	}
	if p.inTests(c.Path) {
		return "in a folder of the task's tests"
	}
	if p.takesPlace(c) {
		return "takes the place of the task's tests"
	}
	return ""
}

// inTests reports whether a path is a folder of the task's tests or lies in one.
func (p protection) inTests(name string) bool {
	for dir := name; dir != "."; dir = path.Dir(dir) {
		if p.folders[dir] {
			return true
		}
	}
	return false
}

// isHidden drops files that git ignores, which an honest submission cannot contain.
func (p protection) isHidden(c tree.Change) string {
	switch {
	case c.Hidden:
		return "takes the place of an ignored file of the image"
	case c.Ignored:
		return "ignored by git at the base commit"
	}
	return ""
}

// steersGit drops git's attributes, which change how git writes files.
func (p protection) steersGit(c tree.Change) string {
	if path.Base(c.Path) == ".gitattributes" {
		return "attributes of git"
	}
	return ""
}

// linksToTests drops links to the tests.
func (p protection) linksToTests(c tree.Change) string {
	if c.NewMode != tree.LinkMode {
		return ""
	}
	target := path.Join(path.Dir(c.Path), c.Link)
	if p.tests[target] || p.nests(target) || p.inTests(target) {
		return "a link to the tests"
	}
	return ""
}

// looksLikeProtected drops paths that some file system treats as a protected path, such as
// Conftest.py and Tests/.
func (p protection) looksLikeProtected(c tree.Change) string {
	folded := foldPath(c.Path)
	if folded == c.Path {
		return ""
	}
	twin := c
	twin.Path = folded
	names := p.isTest(twin) + p.isTestLike(twin) + p.isHelper(twin) + p.steersRunner(twin) + p.shadowsModule(twin)
	if names == "" || p.base.Has(c.Path) {
		return ""
	}
	return "its name differs from a protected one in case, dots or spaces alone"
}

// foldPath returns a path without differences that some file systems ignore.
func foldPath(name string) string {
	parts := strings.Split(strings.ToLower(name), "/")
	for i, part := range parts {
		parts[i] = strings.TrimRight(part, ". ")
	}
	return strings.Join(parts, "/")
}

// maxStamped is how many files of the tests are checked for changes.
const maxStamped = 5000

// guardedFiles returns, sorted, the files that the task names, those in folders of tests, and
// helpers.
func (p protection) guardedFiles() []string {
	set := maps.Clone(p.tests)
	for file := range p.base.Files {
		if p.inTests(file) || path.Base(file) == "conftest.py" || p.helps(file) {
			set[file] = true
		}
	}
	files := slices.Sorted(maps.Keys(set))
	return files[:min(len(files), maxStamped)]
}
