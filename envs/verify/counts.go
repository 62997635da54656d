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
	"relabel/testlog"
)

// testCounts is the number of test functions that ran, by test file or Go package of the task.
// Parametrised tests count once. It is nil if nothing counts them, or if the run had no canaries,
// because it may then end at the first failure.
type testCounts map[string]int

// counts counts the test functions of a run.
func (s *stage) counts(e evidence, planted *canary.Planting) testCounts {
	switch _, name := testcmd.Of(s.task); {
	case planted == nil:
		return nil
	case testcmd.RunnerOf(name) == testlog.Go:
		return countGo(e.outcomes, planted)
	case e.named != nil && e.named.Titles != nil:
		return countNode(e.named, planted)
	}
	return countTests(s.task, e.report, planted)
}

// namesOf returns the names of canaries.
func namesOf(planted *canary.Planting) map[string]bool {
	names := map[string]bool{}
	for _, c := range planted.Canaries {
		names[c.Name] = true
	}
	return names
}

// countGo counts the test functions, without canaries, of the packages with canaries.
func countGo(o testlog.Outcomes, planted *canary.Planting) testCounts {
	canaries := namesOf(planted)
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

// countNode counts the titles of tests, without canaries, that occur literally in the files with
// canaries. The number of computed titles may depend on the code under test.
func countNode(r *results.NamedReport, planted *canary.Planting) testCounts {
	canaries := namesOf(planted)
	counts := testCounts{}
	for _, f := range planted.Files {
		if f.Below != "" || strings.HasSuffix(f.Path, ".snap") {
			continue
		}
		counts[f.Path] = 0
		for title := range r.Titles[f.Path] {
			literal := func(quote string) bool { return strings.Contains(f.Content, quote+title+quote) }
			if !canaries[title] && slices.ContainsFunc([]string{"'", `"`, "`"}, literal) {
				counts[f.Path]++
			}
		}
	}
	return counts
}

// countTests counts the test functions of a report, without canaries.
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

// differs tells where a run has another number of tests than the gold patch's; "" if it has not or
// one of them has no counts.
func (c testCounts) differs(gold testCounts) string {
	if c == nil || gold == nil {
		return ""
	}
	for _, file := range slices.Sorted(maps.Keys(gold)) {
		if c[file] != gold[file] {
			return fmt.Sprintf("%d tests of %s ran, and %d with the gold patch", c[file], file, gold[file])
		}
	}
	return ""
}

// withoutCanaries removes the canaries, and inherited tests of their classes, from names of test
// functions.
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
