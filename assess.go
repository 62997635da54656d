package relabel

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Assess says whether a task is sound, from the verdicts on equal runs of its tests with the gold patch and without a
// patch. times is how many of each were requested, verifySeconds their time limit.
func Assess(task Task, times, verifySeconds int, gold, empty []Verdict) Validation {
	v := Validation{TaskID: task.ID, InstanceID: task.InstanceID, Times: times, VerifySeconds: verifySeconds, Flaky: flakyTests(task, gold, empty)}
	rest := task.WithoutTests(v.Flaky)
	for i, verdict := range gold {
		v.Runs = append(v.Runs, runOf(rest, GoldPatch, i+1, verdict))
	}
	for i, verdict := range empty {
		v.Runs = append(v.Runs, runOf(rest, EmptyPatch, i+1, verdict))
	}
	v.Reason, v.Problem = problemOf(task, rest, v)
	v.State = v.Reason.state()
	return v
}

// state is the state of a task with the problem.
func (r ProblemReason) state() Soundness {
	switch r {
	case "":
		return TaskSound
	case ProblemFlaky:
		return TaskFlaky
	case ProblemInfra:
		return TaskInfra
	}
	return TaskBroken
}

// ended reports whether the tests of a run ran to their end, so that equal runs have equal statuses.
func ended(v Verdict) bool {
	return v.Infra == "" && (v.Reason == VerdictTestsPassed || v.Reason == VerdictTests)
}

// Satisfied reports whether a test of the task that ended with a status ended as it must: as Expected says, else it
// passed, or was skipped as in PASS_TO_PASS only.
func (t Task) Satisfied(test string, status TestStatus) bool {
	if t.Expected != nil {
		return status == t.Expected[test]
	}
	return status.Passed() || status == TestSkipped && !slices.Contains(t.FailToPass, test)
}

// gradedTests are the tests that decide whether a patch resolves the task: those of its lists, in their order; if it has
// an exact outcome, all that it or a run names, sorted.
func (t Task) gradedTests(runs []Verdict) []string {
	if t.Expected == nil {
		return slices.Concat(t.FailToPass, t.PassToPass)
	}
	tests := map[string]bool{}
	for test := range t.Expected {
		tests[test] = true
	}
	for _, v := range runs {
		for test := range v.Tests {
			tests[test] = true
		}
	}
	return slices.Sorted(maps.Keys(tests))
}

// flakyTests returns the tests of a task that ended as they must in some of equal runs only.
func flakyTests(task Task, gold, empty []Verdict) (flaky []FlakyTest) {
	for _, test := range task.gradedTests(slices.Concat(gold, empty)) {
		f := FlakyTest{Test: test, Gold: endings(task, test, gold), Empty: endings(task, test, empty)}
		if flickers(f.Gold) || flickers(f.Empty) {
			flaky = append(flaky, f)
		}
	}
	return flaky
}

func flickers(endings string) bool {
	return strings.Contains(endings, "P") && strings.Contains(endings, "f")
}

// endings tells how a test ended in each run; see FlakyTest.
func endings(task Task, test string, runs []Verdict) string {
	var b strings.Builder
	for _, v := range runs {
		switch {
		case !ended(v):
			b.WriteByte('-')
		case task.Satisfied(test, v.Tests[test]):
			b.WriteByte('P')
		default:
			b.WriteByte('f')
		}
	}
	return b.String()
}

// runOf is a run of a validation; rest is the task without flaky tests.
func runOf(rest Task, patch ValidatedPatch, number int, v Verdict) ValidationRun {
	r := ValidationRun{Patch: patch, Number: number, Passed: v.Passed && v.Infra == "", Reason: v.Reason, Infra: v.Infra,
		Millis: v.Millis, Log: v.Output, LogBytes: len(v.Output)}
	r.Steady = ended(v) && (v.Passed || restPasses(rest, v))
	var names []string
	for test, status := range v.Tests {
		if !rest.Satisfied(test, status) {
			names = append(names, test)
		}
	}
	slices.Sort(names)
	r.NotPassed = len(names)
	for _, test := range names[:min(len(names), MaxRunTests)] {
		if r.Tests == nil {
			r.Tests = map[string]TestStatus{}
		}
		r.Tests[test] = v.Tests[test]
	}
	return r
}

// restPasses reports whether a run passes but for flaky tests. An exact outcome has all tests.
func restPasses(rest Task, v Verdict) bool {
	if rest.Expected != nil || len(rest.FailToPass) == 0 {
		return false
	}
	return !slices.ContainsFunc(rest.gradedTests(nil), func(test string) bool { return !rest.Satisfied(test, v.Tests[test]) })
}

// problemOf tells what is wrong with a task; "" if it is sound. rest is the task without flaky tests.
func problemOf(task, rest Task, v Validation) (ProblemReason, string) {
	gold, empty := v.Of(GoldPatch), v.Of(EmptyPatch)
	switch {
	case strings.TrimSpace(task.Patch) == "":
		return ProblemNoGold, "it has no gold patch"
	case len(task.FailToPass) == 0 && task.Expected == nil:
		return ProblemNoTest, "it has no FAIL_TO_PASS test, so nothing can show that it is resolved"
	}
	for _, r := range gold {
		if reason, problem := brokenRun(v, r, "with the gold patch"); reason != "" {
			return reason, problem
		}
	}
	if task.Expected != nil && len(v.Flaky) > 0 {
		return ProblemOnlyFlaky, fmt.Sprintf("the outcome of its tests must be exact, and %s: %s", flickering(v.Flaky), flakyNames(v.Flaky))
	}
	if len(rest.FailToPass) == 0 && task.Expected == nil {
		return ProblemOnlyFlaky, fmt.Sprintf("every FAIL_TO_PASS test flickers: %s", flakyNames(v.Flaky))
	}
	for _, r := range gold {
		if !r.Steady {
			return ProblemGold, "the gold patch does not resolve it: " + unpassed(task, r)
		}
	}
	for _, r := range empty {
		if reason, problem := brokenRun(v, r, "without a patch"); reason == ProblemInfra || reason == ProblemNotRun {
			return reason, problem
		}
		if r.Passed {
			return ProblemWithoutPatch, "it is resolved without any patch"
		}
		if r.Steady {
			return ProblemWithoutPatch, "it is resolved without any patch, but for flaky tests: " + flakyNames(v.Flaky)
		}
	}
	if len(v.Flaky) > 0 {
		return ProblemFlaky, fmt.Sprintf("%s: %s", flickering(v.Flaky), flakyNames(v.Flaky))
	}
	return "", ""
}

// brokenRun tells why a run did not end; "" if it did. An error after the tests began is the task's.
func brokenRun(v Validation, r ValidationRun, with string) (ProblemReason, string) {
	switch {
	case r.Infra != "" && r.LogBytes > 0:
		return ProblemNotRun, with + ": " + r.Infra
	case r.Infra != "":
		return ProblemInfra, with + ": " + r.Infra
	case r.Reason == VerdictTimedOut:
		return ProblemTimeout, fmt.Sprintf("%s the test command did not end within its limit of %d seconds (run %d of %d)", with, v.VerifySeconds, r.Number, v.Times)
	case r.Patch == GoldPatch && (r.Reason == VerdictDoesNotApply || r.Reason == VerdictUnsafe):
		return ProblemPatch, "the gold patch cannot be used: " + string(r.Reason)
	case r.Patch == GoldPatch && r.Reason != VerdictTests && r.Reason != VerdictTestsPassed:
		return ProblemGold, "the gold patch does not resolve it: " + string(r.Reason)
	}
	return "", ""
}

// namedTests is how many tests a problem names.
const namedTests = 3

func flickering(flaky []FlakyTest) string {
	return counted(len(flaky), "test flickers", "tests flicker")
}

func flakyNames(flaky []FlakyTest) string {
	var names []string
	for _, f := range flaky[:min(len(flaky), namedTests)] {
		names = append(names, f.Test)
	}
	if more := len(flaky) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// unpassed counts the tests that did not end as they must, and names the first in order.
func unpassed(task Task, r ValidationRun) string {
	first, did := "", "did not pass"
	if task.Expected != nil {
		did = "did not end as expected"
	}
	for test := range r.Tests {
		if first == "" || test < first {
			first = test
		}
	}
	return fmt.Sprintf("%s %s, such as %s (%s)", counted(r.NotPassed, "test", "tests"), did, first, r.Tests[first])
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
