package protect

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/base64"
	"fmt"
	"path"
	"reflect"
	"strings"

	"relabel"
	"relabel/envs/verify/tree"
	"relabel/testlog"
)

// A file that controls the tests and that the gold patch changes may be part of the solution. Of
// data files, each key that controls the tests must have the value of the base or of the gold
// patch, otherwise the file keeps its base version. Other files, which are mostly programs, are
// replaced by the gold patch's version, with which the task's tests are known to pass.
const (
	settingsReason = "steers the test runner neither as the base does nor as the gold patch"
	programReason  = "steers the tests; the gold patch's version takes its place"
)

const (
	maxSettings = 1 << 20   // bytes of a settings file
	maxCompared = 120 << 20 // bytes of the output of settingsScript
)

// Restored replaces a path of the submission.
type Restored struct {
	Entry   string // the line for git update-index --index-info
	Removed bool   // the entry removes the file
	Reason  relabel.DroppedPath
}

// atBase restores the base's version of a path.
func atBase(c tree.Change, reason string) Restored {
	return Restored{Entry: c.Entry(), Removed: c.Added(), Reason: relabel.DroppedPath{Path: c.Path, Reason: reason}}
}

// sharedSettings returns the changes of files that control the tests, and that the gold patch
// changes too, if they differ from all allowed versions. problem tells how the container failed.
func (p protection) sharedSettings(ctx context.Context, repo Container, r tree.Reading) (foreign []Restored, problem string) {
	var shared []tree.Change
	args := []string{repo.Index(), r.Tree, fmt.Sprint(maxSettings + 1)}
	for _, c := range r.Changes {
		if p.gold[c.Path] && !p.tests[c.Path] && p.steers(c) {
			shared = append(shared, c)
			args = append(args, c.Path)
		}
	}
	if len(shared) == 0 {
		return nil, ""
	}
	const doing = "comparing settings with those of the gold patch"
	compared, problem := repo.Run(ctx, doing, settingsScript, []byte(p.task.Patch), maxCompared, args...)
	lines := strings.Split(string(compared.Output), "\n")
	if problem == "" && (compared.Exit != 0 || len(lines) < 4*len(shared)) {
		problem = Failed(doing, compared)
	}
	if problem != "" {
		return nil, problem
	}
	elsewhere := p.solvesElsewhere()
	for i, c := range shared {
		if back, differs := p.compared(c, lines[4*i:4*i+4], elsewhere); differs {
			foreign = append(foreign, back)
		}
	}
	return foreign, ""
}

// steers reports whether a file controls the tests by its name. Of the files that the test command
// names, only scripts and setup.py do, because others may be the code under test.
func (p protection) steers(c tree.Change) bool {
	if base := path.Base(c.Path); base == "go.sum" || base == "go.work.sum" {
		return false
	}
	if p.runs[c.Path] && (scripts[path.Ext(c.Path)] || makefiles[c.Path] || path.Base(c.Path) == "setup.py") {
		return true
	}
	for _, rule := range []func(protection, tree.Change) string{
		protection.steersRunner, protection.isDistribution, protection.isInstalled, protection.isCompiled, protection.steersGit, protection.steersGo, protection.steersBuild,
	} {
		if rule(p, c) != "" {
			return true
		}
	}
	return p.runner.OnNode() && nodeSteering(c.Path) != ""
}

// solvesElsewhere reports whether the gold patch changes other code than files that control the
// tests. Otherwise these files are the solution, and must not be replaced by it.
func (p protection) solvesElsewhere() bool {
	for name := range p.gold {
		if !prose[path.Ext(name)] && !p.tests[name] && !p.steers(tree.Change{Path: name}) && p.isTestLike(tree.Change{Path: name}) == "" {
			return true
		}
	}
	return false
}

// prose are the suffixes of texts. They include "".
var prose = map[string]bool{"": true, ".md": true, ".rst": true, ".txt": true, ".adoc": true}

// compared compares a change with the base and the gold patch. lines are the output of
// settingsScript for it.
func (p protection) compared(c tree.Change, lines []string, elsewhere bool) (back Restored, differs bool) {
	if read := settingsReader(c.Path); read != nil && !c.Deleted() {
		content, _ := base64.StdEncoding.DecodeString(lines[0])
		p.exported = exportsOf(content)
		base, gold, mine := p.read(read, lines[0]), p.read(read, lines[2]), p.read(read, lines[3])
		return atBase(c, settingsReason), c.NewMode == tree.LinkMode || !steersAlike(mine, base, gold)
	}
	entry := lines[1]
	if entry == "" { // the gold patch removes it
		entry = tree.NoMode + " " + strings.Repeat("0", len(c.OldID))
	}
	back = Restored{Entry: entry + "\t" + c.Path + "\x00", Removed: strings.HasPrefix(entry, tree.NoMode), Reason: relabel.DroppedPath{Path: c.Path, Reason: programReason}}
	return back, elsewhere && entry != c.NewMode+" "+c.NewID
}

// settingsScript INDEX TREE BYTES PATH… reads the task's gold patch from standard input and prints
// four lines for each path: its content in TREE, its mode and object with the gold patch, its
// content with the gold patch, and its content in INDEX. Contents are in base64, at most BYTES long.
// A line is empty if there is no such file.
//
//go:embed settings.sh
var settingsScript string

// A settingsFormat returns the settings of a file that control the tests; nil if the file is broken.
type settingsFormat func(p protection, content []byte) map[string]any

// settingsReader returns the format of a settings file; nil if it is compared as a whole.
func settingsReader(name string) settingsFormat {
	base := path.Base(name)
	switch {
	case buildFiles[testlog.Cargo].MatchString(name):
		return nil
	case strings.HasSuffix(base, ".toml"):
		return tomlSteering
	case base == "setup.cfg", base == "tox.ini":
		return iniSteering
	case base == "package.json":
		return packageSteering
	case typeScriptSettings.MatchString(base):
		return typeScriptSteering
	case base == "go.mod":
		return goModSteering
	case base == "go.work":
		return goWorkSteering
	}
	return nil
}

// read reads a settings file in base64. A file that does not exist controls nothing.
func (p protection) read(format settingsFormat, encoded string) map[string]any {
	content, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(content) > maxSettings {
		return nil
	}
	if len(bytes.TrimSpace(content)) == 0 {
		return map[string]any{}
	}
	return format(p, content)
}

// steersAlike reports whether each key of a submission's settings has the value of the base or of
// the gold patch.
func steersAlike(mine, base, gold map[string]any) bool {
	if mine == nil {
		return false
	}
	for _, settings := range []map[string]any{mine, base, gold} {
		for key := range settings {
			if !reflect.DeepEqual(mine[key], base[key]) && !reflect.DeepEqual(mine[key], gold[key]) {
				return false
			}
		}
	}
	return true
}
