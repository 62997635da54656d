package protect

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"path"
	"reflect"
	"strings"

	"relabel"
	"relabel/envs/verify/testcmd"
	"relabel/envs/verify/tree"
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

// maxCompared is how much of what settingsScript prints is taken, in bytes.
const maxCompared = 120 << 20

// Restored is a path that is not graded as the submission has it.
type Restored struct {
	Entry   string              // the line of git update-index --index-info that is laid instead
	Removed bool                // there is no such file then
	Reason  relabel.DroppedPath // the path and why
}

// atBase puts a change back to what the base has.
func atBase(c tree.Change, reason string) Restored {
	return Restored{Entry: c.Entry(), Removed: c.Added(), Reason: relabel.DroppedPath{Path: c.Path, Reason: reason}}
}

// sharedSettings returns those changes of what steers the tests that the gold patch allows
// and that differ from what it may be. The
// problem is how the container failed.
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

// steers reports whether a file steers the tests by its name. Of the files that the test
// command names, scripts and setup.py do: others may be the code under test.
func (p protection) steers(c tree.Change) bool {
	if base := path.Base(c.Path); base == "go.sum" || base == "go.work.sum" {
		return false
	}
	if p.runs[c.Path] && (scripts[path.Ext(c.Path)] || makefiles[c.Path] || path.Base(c.Path) == "setup.py") {
		return true
	}
	for _, rule := range []func(protection, tree.Change) string{
		protection.steersRunner, protection.isDistribution, protection.isInstalled, protection.isCompiled, protection.steersGit, protection.steersGo,
	} {
		if rule(p, c) != "" {
			return true
		}
	}
	return testcmd.NodeParsers[p.parser] && nodeSteering(c.Path) != ""
}

// solvesElsewhere reports whether the gold patch changes code besides what steers the tests:
// without that, these files are the solution, and its version of them would be a gift.
func (p protection) solvesElsewhere() bool {
	for name := range p.gold {
		if !prose[path.Ext(name)] && !p.tests[name] && !p.steers(tree.Change{Path: name}) && p.isTestLike(tree.Change{Path: name}) == "" {
			return true
		}
	}
	return false
}

// prose are the suffixes of texts, and of files without one.
var prose = map[string]bool{"": true, ".md": true, ".rst": true, ".txt": true, ".adoc": true}

// compared compares a change with the base and the gold patch. The lines are what
// settingsScript prints of it.
func (p protection) compared(c tree.Change, lines []string, elsewhere bool) (back Restored, differs bool) {
	if read := settingsReader(c.Path); read != nil && !c.Deleted() {
		content, _ := base64.StdEncoding.DecodeString(lines[0]) // what cannot be read exports nothing
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

// settingsScript INDEX TREE BYTES PATH… takes the task's gold patch on standard input and
// prints four lines for each path: what TREE has of it, mode and object with the gold patch,
// what TREE with the gold patch has, and what INDEX has; contents in base64, of so many BYTES
// at most, and empty lines where there is no such file.
const settingsScript = `set -e
index=$1 tree=$2 bytes=$3
shift 3
exec 2>"$index.said"
trap 'code=$?; if [ $code != 0 ]; then cat "$index.said"; fi' EXIT
cat > "$index.gold.patch"
export GIT_INDEX_FILE=$index.gold GIT_LITERAL_PATHSPECS=1
git read-tree "$tree"
git apply --cached --whitespace=nowarn "$index.gold.patch" || git read-tree "$tree"
content() { git cat-file blob "$1" 2>/dev/null | head -c "$bytes" | base64 | tr -d '\n'; echo; }
for path; do
  content "$tree:$path"
  entry=$(git ls-files -s -- "$path")
  read -r mode id _ <<< "$entry"
  echo "$mode${id:+ $id}"
  content ":$path"
  GIT_INDEX_FILE=$index content ":$path"
done
`

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
