// Package repair is a family of tiny software-repair tasks without an end, and their teacher. A
// repository has four files of one function each, and check.py. One function has the wrong operator;
// the issue names it or a function that calls it. A task is drawn from a seed; a quarter of the names
// and of the number pairs occurs only in held-out tasks.
package repair

import (
	"fmt"
	"slices"
	"strings"
)

// Task is one repository with one wrong operator.
type Task struct {
	ID      string            // such as train-7-12
	Issue   string            // the problem statement
	Files   map[string]string // content by name, without check.py
	Checks  []Check           // what check.py checks, in order
	Faulty  string            // name of the file with the wrong operator
	Wrong   string            // its operator
	Right   string            // the operator that it should have
	Chain   []string          // the issue's function and those that it calls, the faulty one last
	pairsOf func() (a, b int)
}

// Check is the value that a function should have.
type Check struct {
	Module, Function string
	A, B, Want       int
}

// Draw draws the task of a seed, such as "7-12".
func Draw(seed string, heldOut bool) Task {
	split := "train"
	if heldOut {
		split = "heldout"
	}
	t := Task{ID: split + "-" + seed, Files: map[string]string{}}
	d := &dice{seed: t.ID}
	t.pairsOf = func() (int, int) { return pair(d, heldOut) }
	names := distinctNames(d, heldOut)
	modules := slices.Clone(files)
	shuffle(d, modules)
	t.fill(d, names, modules[:len(names)])
	return t
}

// functions is the number of functions, and of files that hold them, of a repository.
const functions = 4

// distinctNames draws the names of functions.
func distinctNames(d *dice, heldOut bool) (names []string) {
	for len(names) < functions {
		name := d.pick(adjectives) + "_" + d.pick(nouns)
		if isHeldOut(name) == heldOut && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// pair draws two numbers for which all operators have different values, so that one example shows
// which one is meant.
func pair(d *dice, heldOut bool) (a, b int) {
	for {
		a, b = 11+d.below(89), 3+d.below(58)
		values := map[int]bool{}
		for _, o := range operators {
			values[apply(o, a, b)] = true
		}
		if len(values) == len(operators) && isHeldOut(fmt.Sprintf("%d,%d", a, b)) == heldOut {
			return a, b
		}
	}
}

// fill writes the repository: names[i] is in modules[i]. The first one to three functions are a chain
// of calls that ends with the faulty one; the others are sound.
func (t *Task) fill(d *dice, names, modules []string) {
	depth := d.below(3)
	t.Chain = names[:depth+1]
	t.Faulty = modules[depth] + ".py"
	t.Right = d.pick(operators)
	t.Wrong = d.pick(slices.DeleteFunc(slices.Clone(operators), func(o string) bool { return o == t.Right }))
	means := make([]string, len(names)) // the operator that each function should apply
	for i, name := range names {
		means[i] = t.Right
		switch {
		case i < depth:
			t.Files[modules[i]+".py"] = fmt.Sprintf("from %s import %s\ndef %s(a, b):\n    return %s(a, b)\n", modules[i+1], names[i+1], name, names[i+1])
		case i == depth:
			t.Files[t.Faulty] = source(name, t.Wrong)
		default:
			means[i] = d.pick(operators)
			t.Files[modules[i]+".py"] = source(name, means[i])
		}
	}
	a, b := t.pairsOf()
	t.Issue = fmt.Sprintf("%s(%d, %d) returns %d but it should return %d. Fix the bug.", names[0], a, b, apply(t.Wrong, a, b), apply(t.Right, a, b))
	for i, name := range names {
		for k := range 2 {
			if i > 0 || k > 0 { // the issue's own example is the first one
				a, b = t.pairsOf()
			}
			t.Checks = append(t.Checks, Check{modules[i], name, a, b, apply(means[i], a, b)})
		}
	}
	shuffle(d, t.Checks)
}

// source is a file of one function that applies an operator.
func source(name, operator string) string {
	return fmt.Sprintf("def %s(a, b):\n    return a %s b\n", name, operator)
}

// checkProgram is check.py; the checks go in place of %s.
const checkProgram = `import importlib
import sys

CHECKS = [
%s]
for module in sorted({check[0] for check in CHECKS}):
    try:
        with open(module + ".py") as file:
            compile(file.read(), module, "exec")
    except SyntaxError as error:
        sys.exit(print(f"SyntaxError: {module}.py line {error.lineno}"))
    except OSError:
        sys.exit(print(f"OSError: {module}.py"))
for module, function, a, b, want in CHECKS:
    try:
        got = getattr(importlib.import_module(module), function)(a, b)
    except Exception as error:
        sys.exit(print(f"FAIL {function}({a}, {b}): {type(error).__name__}, want {want}"))
    if got != want:
        sys.exit(print(f"FAIL {function}({a}, {b}): got {got}, want {want}"))
print("all passed")
`

// CheckProgram is the task's check.py. It prints "all passed" or the first miss, such as
// "FAIL calm_fan(46, 30): got 16, want 62" or "SyntaxError: grid.py line 2".
func (t Task) CheckProgram() string {
	var b strings.Builder
	for _, c := range t.Checks {
		fmt.Fprintf(&b, "    (%q, %q, %d, %d, %d),\n", c.Module, c.Function, c.A, c.B, c.Want)
	}
	return fmt.Sprintf(checkProgram, b.String())
}
