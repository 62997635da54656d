// Package protect decides what of a submission is not graded: tests, what tests need, and what steers
// their runner.
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

// testName matches the names of files with tests in Python, Go and JavaScript.
var testName = regexp.MustCompile(`^(test_.*\.py|.*_test\.py|.*_test\.go|.*\.(test|spec)\.[cm]?[jt]sx?)$`)

// testFolders are the names of folders that hold tests and what they need.
var testFolders = map[string]bool{"test": true, "tests": true, "testing": true, "__tests__": true}

// protection decides which changes of a submission are not graded. They never reach the
// working tree. Paths that the gold patch changes are graded, but for tests.
type protection struct {
	task    relabel.Task
	tests   map[string]bool // files of the test patch and of the test ids
	above   map[string]bool // the folders above them
	folders map[string]bool // folders of tests that those files lie in
	gold    map[string]bool // paths that the gold patch touches
	runs    map[string]bool // files that the test command names
	loaded  map[string]bool // modules that the runner's configuration at the base names
	patched map[string]bool // paths that the test patch touches
	// chosen are the patterns of files with tests in the runner's configuration at the base.
	chosen []*regexp.Regexp
	parser string // the short name of the log parser
	// commands are the test command and the evaluation script.
	commands string
	// exported are the names that a package.json gives to modules at the base, while it is
	// compared.
	exported map[string]bool
	base     tree.PathSet // the repository before the submission
	final    tree.PathSet // and with all of it
	facts    tree.Facts
	roots    map[string]bool // folders that modules are imported from
	// testModules are the names below which tests are imported.
	testModules map[string]bool
	testPlaces  map[string]bool // modules and folders of the tests, without suffixes
	goldUnits   map[string]bool // helpers of tests that the gold patch changes
	subjects    subjects        // what the task's tests test
	testOnly    map[string]bool // modules and folders that nothing but tests imports
	// helperFolders remembers which names of folders are those of helpers.
	helperFolders map[string]bool
}

// rules are tried in order; the first that gives a reason drops the change.
var rules = []func(protection, tree.Change) string{
	protection.isTest, protection.isGold, protection.isTestLike, protection.isHelper, protection.steersRunner, protection.isRun, protection.isDistribution, protection.isInstalled,
	protection.isCompiled, protection.isHidden, protection.shadowsModule, protection.steersGit, protection.steersGo, protection.steersNode,
	protection.linksToTests, protection.looksLikeProtected,
}

// graded is the answer of a rule that lets a change through whatever later rules say.
const graded = "graded"

// protectionOf is the protection of a task's tests from what was read.
func protectionOf(task relabel.Task, r tree.Reading) protection {
	p := protection{
		task: task, tests: map[string]bool{}, above: map[string]bool{}, folders: map[string]bool{}, runs: map[string]bool{}, helperFolders: map[string]bool{},
		gold: tree.Set(tree.PatchPaths(task.Patch)), patched: tree.Set(tree.PatchPaths(task.TestPatch)), subjects: subjectsOf(task),
		base: r.Base, final: finalPaths(r), facts: r.Facts,
	}
	for name := range p.patched {
		p.test(name)
	}
	command, parserName := testcmd.Of(task)
	p.parser = testcmd.ShortParser(parserName)
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

// finalPaths are the files of the repository with the submission.
func finalPaths(r tree.Reading) tree.PathSet {
	var files []string
	gone := map[string]bool{}
	for _, c := range r.Changes {
		if c.Deleted() {
			gone[c.Path] = true
		} else {
			files = append(files, c.Path)
		}
	}
	for f := range r.Base.Files {
		if !gone[f] {
			files = append(files, f)
		}
	}
	return tree.NewPathSet(files)
}

// test notes a file with tests and the folder of tests around it: the innermost that is
// called so.
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

// split returns the changes that are not graded, with the reason of each.
func (p protection) split(changes []tree.Change) []Restored {
	var dropped []Restored
	for _, c := range changes {
		if reason := p.reason(c); reason != "" {
			dropped = append(dropped, atBase(c, reason))
		}
	}
	return dropped
}

// reason says why a change is not graded; "" where it is.
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

// isTest drops what the test patch or a test id names, and what lies below such a file
// or takes the place of a folder above it: a submission can make a folder of the one, or
// a link of the other.
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

// isGold lets through what the gold patch changes.
func (p protection) isGold(c tree.Change) string {
	if p.gold[c.Path] {
		return graded
	}
	return ""
}

// isTestLike drops files that are called like tests, and folders of the task's tests.
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

// isHidden drops what an honest submission cannot hold: files that git ignores.
func (p protection) isHidden(c tree.Change) string {
	switch {
	case c.Hidden:
		return "takes the place of an ignored file of the image"
	case c.Ignored:
		return "ignored by git at the base commit"
	}
	return ""
}

// steersGit drops the attributes of files, by which git writes them in another form.
func (p protection) steersGit(c tree.Change) string {
	if path.Base(c.Path) == ".gitattributes" {
		return "attributes of git"
	}
	return ""
}

// linksToTests drops links by which the submission could reach the tests.
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

// looksLikeProtected drops paths that some file system takes for one of the others, such
// as Conftest.py and Tests/.
func (p protection) looksLikeProtected(c tree.Change) string {
	folded := foldPath(c.Path)
	if folded == c.Path {
		return ""
	}
	twin := c
	twin.Path = folded
	for _, rule := range []func(protection, tree.Change) string{protection.isTest, protection.isTestLike, protection.isHelper, protection.steersRunner, protection.shadowsModule} {
		if rule(p, twin) != "" && !p.base.Has(c.Path) {
			return "its name differs from a protected one in case, dots or spaces alone"
		}
	}
	return ""
}

// foldPath writes a path as file systems that fold names compare it.
func foldPath(name string) string {
	parts := strings.Split(strings.ToLower(name), "/")
	for i, part := range parts {
		parts[i] = strings.TrimRight(part, ". ")
	}
	return strings.Join(parts, "/")
}

// maxStamped is how many files of the tests are looked at.
const maxStamped = 5000

// guardedFiles returns the files of the tests: those that the task names, what lies in their
// folders, and helpers of tests, sorted.
func (p protection) guardedFiles() []string {
	set := map[string]bool{}
	for file := range p.tests {
		set[file] = true
	}
	for file := range p.base.Files {
		if p.inTests(file) || path.Base(file) == "conftest.py" || p.helps(file) {
			set[file] = true
		}
	}
	files := slices.Sorted(maps.Keys(set))
	return files[:min(len(files), maxStamped)]
}
