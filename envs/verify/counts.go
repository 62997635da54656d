package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"relabel"
)

// testCounts says for each file of a task's tests how many test functions the report of a
// run has, parametrised ones once. A submission cannot add or remove functions there. It is
// nil where there is no report, or where no canaries stood in the run: those come with
// --maxfail=0, without which a run may end before its last test.
type testCounts map[string]int

// countTests counts the test functions of a report, canaries left out.
func countTests(task relabel.Task, r *report, planted *planting) testCounts {
	if r == nil || planted == nil {
		return nil
	}
	functions := map[string]bool{}
	for _, names := range []map[string]bool{r.clean, r.stained} {
		for name := range names {
			function, _, _ := strings.Cut(name, "[")
			functions[function] = true
		}
	}
	for _, c := range planted.canaries {
		name, _, _ := strings.Cut(plainName(c.name), "[")
		maps.DeleteFunc(functions, func(function string, _ bool) bool { return function == name || strings.HasSuffix(function, "."+name) })
	}
	counts := testCounts{}
	for _, file := range testFiles(task) {
		module := plainName(strings.TrimSuffix(file, ".py")) + "."
		counts[file] = 0
		for function := range functions {
			if strings.HasPrefix(function, module) {
				counts[file]++
			}
		}
	}
	return counts
}

// differs says where a run has another number of tests than that of the gold patch, or "".
// Without counts of both there is nothing to compare.
func (c testCounts) differs(gold testCounts) string {
	if c == nil || gold == nil {
		return ""
	}
	for _, file := range slices.Sorted(maps.Keys(gold)) {
		if c[file] != gold[file] {
			return fmt.Sprintf("the report has %d tests of %s, and %d with the gold patch", c[file], file, gold[file])
		}
	}
	return ""
}
