package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"relabel"
	"relabel/envs/verify/canary"
	"relabel/envs/verify/results"
	"relabel/envs/verify/testcmd"
)

// testCounts says for each file of a task's tests, or each of its Go packages, how many test
// functions a run had, parametrised ones once. A submission cannot add or remove functions
// there. It is nil where nothing counts them, or where the run had no canaries: those come
// with options without which a run may end before its last test.
type testCounts map[string]int

// counts counts the test functions of a run.
func (s *stage) counts(e evidence, planted *canary.Planting) testCounts {
	switch _, name := testcmd.Of(s.task); {
	case planted == nil:
		return nil
	case testcmd.ShortParser(name) == "gotest":
		return countGo(e.outcomes, planted)
	case e.node != nil:
		return countNode(e.node, planted)
	}
	return countTests(s.task, e.report, planted)
}

// countGo counts the test functions of the packages with canaries, canaries left out.
func countGo(o results.Outcomes, planted *canary.Planting) testCounts {
	canaries := map[string]bool{}
	for _, c := range planted.Canaries {
		canaries[c.Name] = true
	}
	counts := testCounts{}
	for id := range o {
		if pkg, test, ok := strings.Cut(id, ":"); ok && canaries[test] {
			counts[pkg] = 0
		}
	}
	for id := range o {
		pkg, test, _ := strings.Cut(id, ":")
		if _, counted := counts[pkg]; counted && !canaries[test] && !strings.Contains(test, "/") {
			counts[pkg]++
		}
	}
	return counts
}

// countNode counts the tests of the files with canaries whose titles are in the file as they are,
// each title once and canaries left out: other titles are made while the file runs, and how
// many there are may depend on the code under test.
func countNode(r *results.NodeReport, planted *canary.Planting) testCounts {
	canaries := map[string]bool{}
	for _, c := range planted.Canaries {
		canaries[c.Name] = true
	}
	counts := testCounts{}
	for _, f := range planted.Files {
		if f.Below != "" || strings.HasSuffix(f.Path, ".snap") {
			continue
		}
		counts[f.Path] = 0
		for title := range r.Titles[f.Path] {
			literal := strings.Contains(f.Content, "'"+title+"'") || strings.Contains(f.Content, `"`+title+`"`) || strings.Contains(f.Content, "`"+title+"`")
			if literal && !canaries[title] {
				counts[f.Path]++
			}
		}
	}
	return counts
}

// countTests counts the test functions of a report, canaries left out.
func countTests(task relabel.Task, r *results.Report, planted *canary.Planting) testCounts {
	if r == nil || planted == nil {
		return nil
	}
	functions := map[string]bool{}
	for _, names := range []map[string]bool{r.Clean, r.Stained} {
		for name := range names {
			function, _, _ := strings.Cut(name, "[")
			functions[function] = true
		}
	}
	withoutCanaries(functions, planted)
	counts := testCounts{}
	for _, file := range testcmd.Files(task) {
		module := results.PlainName(strings.TrimSuffix(file, ".py")) + "."
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
			return fmt.Sprintf("%d tests of %s were seen, and %d with the gold patch", c[file], file, gold[file])
		}
	}
	return ""
}

// withoutCanaries removes the canaries from names of test functions, and all that ran in
// their classes: tests that these inherit are no further ones.
func withoutCanaries(functions map[string]bool, planted *canary.Planting) {
	canaries, classes := map[string]bool{}, map[string]bool{}
	for _, c := range planted.Canaries {
		name, _, _ := strings.Cut(c.Name, "[")
		parts := strings.Split(name, "::")
		canaries[parts[len(parts)-1]] = true
		if len(parts) > 2 {
			classes[parts[len(parts)-2]] = true
		}
	}
	maps.DeleteFunc(functions, func(function string, _ bool) bool {
		parts := strings.Split(function, ".")
		return canaries[parts[len(parts)-1]] || (len(parts) > 1 && classes[parts[len(parts)-2]])
	})
}
