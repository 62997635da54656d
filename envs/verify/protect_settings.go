package verify

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"path"
	"reflect"
	"strings"

	"relabel"
)

// A file that steers the tests and that the gold patch changes may be part of the solution.
// Where such a file is data, what steers the tests in it must be as the base or the gold
// patch has it: otherwise it stays as at the base. Any other file, most of which are
// programs, must be as the gold patch has it: otherwise the gold patch's takes its place,
// with which the task's tests were found to pass.

// Why such a change is dropped.
const (
	settingsReason = "steers the test runner neither as the base does nor as the gold patch"
	programReason  = "steers the tests; the gold patch's version takes its place"
)

// maxSettings is how many bytes of a file of settings are compared.
const maxSettings = 1 << 20

// restored is a path that is not graded as the submission has it.
type restored struct {
	entry   string // the line of git update-index --index-info that is laid instead
	removed bool   // there is no such file then
	reason  relabel.DroppedPath
}

// atBase puts a change back to what the base has.
func atBase(c change, reason string) restored {
	return restored{entry: c.entry(), removed: c.added(), reason: relabel.DroppedPath{Path: c.path, Reason: reason}}
}

// sharedSettings returns those changes of what steers the tests that the gold patch allows
// and that differ from what it may be. A trial is returned where the container failed.
func (s *stage) sharedSettings(ctx context.Context, p protection) ([]restored, *trial) {
	var shared []change
	args := []string{s.index(), s.tree, fmt.Sprint(maxSettings + 1)}
	for _, c := range s.changes {
		if p.gold[c.path] && !p.tests[c.path] && p.steers(c) {
			shared = append(shared, c)
			args = append(args, c.path)
		}
	}
	if len(shared) == 0 || s.own {
		return nil, nil
	}
	const doing = "comparing settings with those of the gold patch"
	r, problem := s.run(ctx, doing, settingsScript, []byte(s.task.Patch), maxReading, args...)
	lines := strings.Split(string(r.Output), "\n")
	if problem == "" && (r.Exit != 0 || len(lines) < 4*len(shared)) {
		problem = failed(doing, r)
	}
	if problem != "" {
		return nil, &trial{ran: true, doubt: problem}
	}
	var foreign []restored
	elsewhere := p.solvesElsewhere()
	for i, c := range shared {
		if back, differs := p.compared(c, lines[4*i:4*i+4], elsewhere); differs {
			foreign = append(foreign, back)
		}
	}
	return foreign, nil
}

// steers reports whether a file steers the tests by its name. Of the files that the test
// command names, scripts and setup.py do: others may be the code under test.
func (p protection) steers(c change) bool {
	if base := path.Base(c.path); base == "go.sum" || base == "go.work.sum" {
		return false
	}
	if p.runs[c.path] && (scripts[path.Ext(c.path)] || makefiles[c.path] || path.Base(c.path) == "setup.py") {
		return true
	}
	for _, rule := range []func(protection, change) string{
		protection.steersRunner, protection.isDistribution, protection.isInstalled, protection.isCompiled, protection.steersGit, protection.steersGo,
	} {
		if rule(p, c) != "" {
			return true
		}
	}
	return nodeParsers[p.parser] && nodeSteering(c.path) != ""
}

// solvesElsewhere reports whether the gold patch changes code besides what steers the tests:
// without that, these files are the solution, and its version of them would be a gift.
func (p protection) solvesElsewhere() bool {
	for name := range p.gold {
		if !prose[path.Ext(name)] && !p.tests[name] && !p.steers(change{path: name}) && p.isTestLike(change{path: name}) == "" {
			return true
		}
	}
	return false
}

// prose are the suffixes of texts, and of files without one.
var prose = map[string]bool{"": true, ".md": true, ".rst": true, ".txt": true, ".adoc": true}

// compared compares a change with the base and the gold patch. The lines are what
// settingsScript prints of it.
func (p protection) compared(c change, lines []string, elsewhere bool) (back restored, differs bool) {
	if read := settingsReader(c.path); read != nil && !c.deleted() {
		content, _ := base64.StdEncoding.DecodeString(lines[0]) // what cannot be read exports nothing
		p.exported = exportsOf(content)
		base, gold, mine := p.read(read, lines[0]), p.read(read, lines[2]), p.read(read, lines[3])
		return atBase(c, settingsReason), c.newMode == linkMode || !steersAlike(mine, base, gold)
	}
	entry := lines[1]
	if entry == "" { // the gold patch removes it
		entry = noMode + " " + strings.Repeat("0", len(c.oldID))
	}
	back = restored{entry: entry + "\t" + c.path + "\x00", removed: strings.HasPrefix(entry, noMode), reason: relabel.DroppedPath{Path: c.path, Reason: programReason}}
	return back, elsewhere && entry != c.newMode+" "+c.newID
}

// A settingsFormat returns what of a file of settings steers the tests, by key; nil where
// the file cannot be read.
type settingsFormat func(p protection, content []byte) map[string]any

// settingsReader returns how a file of settings is read; nil where it is compared as a whole.
func settingsReader(name string) settingsFormat {
	base := path.Base(name)
	switch {
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

// read reads a file of settings in base64. A file that is not there steers nothing.
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

// steersAlike reports whether each key of a submission's settings is as at the base or as
// the gold patch has it.
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
