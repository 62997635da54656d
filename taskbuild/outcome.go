package taskbuild

import (
	"slices"

	"relabel"
)

// separated are the tests of a candidate, sorted, by what its runs showed.
type separated struct {
	FailToPass []string // passed in no run before the change and in each run after it
	PassToPass []string // passed in each run
	Flaky      []string // passed in some runs of the same code and not in others
}

// separate compares runs of the tests before and after the change. A test that a run does not name has
// not passed in it. Skipped tests have not passed either.
func separate(before, after []TestRun) separated {
	var s separated
	for _, id := range namesOf(before, after) {
		was, wasStable := passedIn(before, id)
		is, isStable := passedIn(after, id)
		switch {
		case !wasStable || !isStable:
			s.Flaky = append(s.Flaky, id)
		case is && was:
			s.PassToPass = append(s.PassToPass, id)
		case is:
			s.FailToPass = append(s.FailToPass, id)
		}
	}
	return s
}

// namesOf returns the names of all tests of the runs, sorted.
func namesOf(groups ...[]TestRun) []string {
	seen := map[string]bool{}
	var names []string
	for _, run := range slices.Concat(groups...) {
		for id := range run.Tests {
			if !seen[id] {
				seen[id] = true
				names = append(names, id)
			}
		}
	}
	slices.Sort(names)
	return names
}

// passedIn reports whether a test passed in the runs; stable is false if only in some.
func passedIn(runs []TestRun, id string) (passed, stable bool) {
	count := 0
	for _, run := range runs {
		if status := run.Tests[id]; status == relabel.TestPassed {
			count++
		}
	}
	return count == len(runs), count == 0 || count == len(runs)
}
