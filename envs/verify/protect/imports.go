package protect

import (
	"context"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"relabel/envs/verify/tree"
)

// Some names are names of helpers of tests as often as of other code: pkg/helpers.py, src/mocks.ts,
// and any Go package below internal/. Such a module is a helper if, at the base, tests import it and
// only tests and helpers do.

// sharedName matches such names, in lower case and without separators.
var sharedName = regexp.MustCompile(`^(helpers?|support|mocks?|fakes?|stubs?|doubles?|dumm(y|ies)|factor(y|ies)|fixtures?|assert(s|ions?)?|require|matchers?|harness|samples?|tests?)$`)

// goTestPackage matches names of Go packages such as storetest.
var goTestPackage = regexp.MustCompile(`^[a-z0-9]+tests?$`)

const (
	maxImporters = 64 << 20 // bytes of lines that name modules
	maxDoubted   = 50       // modules that are graded if there are more lines
)

// importersScript TREE reads words from standard input, one per line, and prints the lines of
// sources and settings in TREE that contain one: "TREE:PATH", NUL, and the line.
const importersScript = `git grep -I -z -w -F -f - "$1" -- '*.py' '*.pyi' '*.pyx' '*.go' '*.js' '*.jsx' '*.ts' '*.tsx' '*.[cm]js' '*.[cm]ts' '*.vue' '*.svelte' '*.toml' '*.cfg' '*.ini' '*.json' '*.in' '*.yml' '*.yaml' 2>/dev/null || [ $? = 1 ]`

// sharedUnits returns the modules and folders of the base that changes affect and whose importers
// decide.
func (p protection) sharedUnits(changes []tree.Change) []string {
	units := map[string]bool{}
	for _, c := range changes {
		module, ok := moduleOf(c.Path)
		if !ok && c.NewMode != tree.LinkMode {
			continue
		}
		for unit := module; unit != "."; unit = path.Dir(unit) {
			if p.shared(unit, c.Path) && p.hasModule(unit) && !p.goldTouches(unit) && !p.subjects.have(unit) && p.reason(c) == "" {
				units[unit] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(units))
}

// shared reports whether importers decide about a module of a file or a folder above it.
func (p protection) shared(unit, file string) bool {
	if path.Ext(file) == ".go" {
		parts := strings.Split(unit, "/")
		inside := slices.Contains(parts[:len(parts)-1], "internal") || goTestPackage.MatchString(path.Base(unit))
		return unit == path.Dir(file) && (inside || sharedName.MatchString(path.Base(unit)))
	}
	return sharedName.MatchString(separators.Replace(strings.ToLower(path.Base(unit))))
}

// goldTouches reports whether the gold patch changes a module or a file in its folder.
func (p protection) goldTouches(unit string) bool {
	for name := range p.gold {
		if module, _ := moduleOf(name); module == unit || strings.HasPrefix(name, unit+"/") {
			return true
		}
	}
	return false
}

// testImports returns the shared units that, at the base and in the task's test patch, tests import
// and only tests and helpers do. problem tells how the container failed.
func (p protection) testImports(ctx context.Context, repo Container, r tree.Reading) (units map[string]bool, problem string) {
	shared := p.sharedUnits(r.Changes)
	if len(shared) == 0 {
		return nil, ""
	}
	var words strings.Builder
	for _, unit := range shared {
		words.WriteString(path.Base(unit) + "\n")
	}
	const doing = "looking for what imports helpers of tests"
	found, problem := repo.Run(ctx, doing, importersScript, []byte(words.String()), maxImporters, r.Tree)
	if problem == "" && found.Exit != 0 {
		problem = Failed(doing, found)
	}
	if problem != "" {
		return nil, problem
	}
	if found.Dropped > 0 && len(shared) > maxDoubted {
		return tree.Set(shared), "" // no solution changes as many helpers
	}
	if found.Dropped > 0 {
		return nil, ""
	}
	return p.onlyTests(shared, append(importLines(r.Tree, found.Output), patchedLines(p.task.TestPatch)...)), ""
}

// onlyTests returns the units that tests import and only tests and helpers do.
func (p protection) onlyTests(units []string, lines []importLine) map[string]bool {
	called, tested, used := map[string][]string{}, map[string]bool{}, map[string]bool{}
	for _, unit := range units {
		called[path.Base(unit)] = append(called[path.Base(unit)], unit)
	}
	for _, l := range lines {
		module, _ := moduleOf(l.file)
		for _, word := range l.words() {
			for _, unit := range called[word] {
				switch {
				case used[unit], module == unit, strings.HasPrefix(module, unit+"/"), !l.imports(unit):
				case p.ofTests(l.file):
					tested[unit] = true
				default:
					used[unit] = true
				}
			}
		}
	}
	maps.DeleteFunc(tested, func(unit string, _ bool) bool { return used[unit] })
	return tested
}

// ofTests reports whether a file is part of the repository's tests.
func (p protection) ofTests(file string) bool {
	c := tree.Change{Path: file}
	return p.isTest(c) != "" || p.isTestLike(c) != "" || path.Base(file) == "conftest.py" || len(p.helperUnits(file, false)) > 0
}
