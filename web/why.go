package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"relabel"
	"relabel/web/chart"
)

// endWords describe ends of rollouts, verdictWords why a task is not resolved. Lists, filters,
// tables and heads share them. verdictReasons are the reasons in display order.
var (
	verdictReasons = []relabel.VerdictReason{relabel.VerdictTestsPassed, relabel.VerdictTests, relabel.VerdictTimedOut, relabel.VerdictUnfinished, relabel.VerdictTampered,
		relabel.VerdictEmptyPatch, relabel.VerdictDoesNotApply, relabel.VerdictUnsafe, relabel.VerdictScored, relabel.VerdictNoAnswer, relabel.VerdictReward, relabel.VerdictNoReward}
	endWords = map[relabel.EndReason]string{relabel.EndFinish: "finished", relabel.EndMaxTurns: "out of turns", relabel.EndContext: "context full",
		relabel.EndWallClock: "out of time", relabel.EndNoCall: "no call",
		relabel.EndDisk: "disk used up", relabel.EndSandboxBroken: "broke its sandbox", relabel.EndTeacherTurns: "ended by the label rule", relabel.EndPromptTooLong: "skipped, prompt too long"}
	verdictWords = map[relabel.VerdictReason]string{relabel.VerdictTestsPassed: "passes, not submitted", relabel.VerdictTests: "tests fail", relabel.VerdictTimedOut: "tests timed out", relabel.VerdictUnfinished: "tests break off", relabel.VerdictTampered: "tests tampered with",
		relabel.VerdictEmptyPatch: "empty patch", relabel.VerdictDoesNotApply: "patch does not apply", relabel.VerdictUnsafe: "patch unsafe",
		relabel.VerdictScored: "answer scored", relabel.VerdictNoAnswer: "no answer", relabel.VerdictReward: "reward below 1", relabel.VerdictNoReward: "no reward"}
)

func endWord(r relabel.EndReason) string         { return cmp.Or(endWords[r], string(r)) }
func verdictWord(r relabel.VerdictReason) string { return cmp.Or(verdictWords[r], string(r)) }

// namedTests is the number of tests of a kind named in a head. longestName bounds a name in
// characters: its end is kept, which distinguishes tests of a file.
const (
	namedTests  = 3
	longestName = 40
)

type whyView struct {
	Cause   string   // in our words
	Detail  string   // in those of a program
	Altered []string // files of the system that had been changed when the tests of a task in a terminal ran
	Infra   bool     // it says nothing about the agent
	Passed  int      // tests, where all pass
	Tests   []failedTests
	End     string // of the rollout
}

// failedTests are the tests of one kind that did not pass.
type failedTests struct {
	Says      string // what they should have done
	Count, Of int
	First     []testRow
}

// More is the number of tests that are not named.
func (f failedTests) More() int { return f.Count - len(f.First) }

// Tail is the end of the test's name.
func (r testRow) Tail() string {
	name := []rune(r.Name)
	if len(name) <= longestName {
		return r.Name
	}
	return "…" + string(name[len(name)-longestName+1:])
}

// Why explains the end of the trajectory; nil while it runs and for superseded attempts.
func (v trajectoryView) Why() *whyView {
	if v.Shown != v.Trail || !v.State.Terminal() && v.EndReason == "" {
		return nil
	}
	w := whyView{End: v.ended()}
	verdict := v.Outcome.Verdict
	switch {
	case v.State == relabel.Failed:
		w.Infra, w.Cause, w.Detail = true, failureWords[v.Failure]+v.failedAt(), v.FailureDetail
	case v.State == relabel.Cancelled:
		w.Cause = fmt.Sprintf("It was cancelled after %d turns.", v.Turns)
	case v.State != relabel.Done:
	case verdict.Infra != "":
		w.Infra, w.Cause, w.Detail = true, failureWords[relabel.FailVerifier], verdict.Infra
	case !v.Outcome.HasVerdict:
	case v.localises():
		w.Cause = v.scored(verdict)
	case v.Task.Kind == relabel.Terminal:
		w.Cause, w.Altered = v.rewarded(verdict), verdict.Altered
	case verdict.Passed:
		w.Passed = len(v.Task.FailToPass) + len(v.Task.PassToPass) + len(v.Task.Expected)
		if v.Resolved != nil && !*v.Resolved {
			w.Cause = "The task is not resolved: the patch passes, but it was not submitted."
		}
	case verdict.Reason == relabel.VerdictTests && v.Task.Expected != nil:
		w.Cause = inexact(v.Task, verdict.Tests)
	case verdict.Reason == relabel.VerdictTests:
		w.Tests = failedOf(v.Outcome.Tests)
	default:
		w.Cause = v.unresolved(verdict.Reason)
	}
	return &w
}

// failedAt is the point at which a trajectory failed.
func (v trajectoryView) failedAt() string {
	switch {
	case v.EndReason != "" && v.Failure == relabel.FailVerifier:
		return ""
	case v.EndReason != "":
		return " after the rollout"
	case v.Turns == 0:
		return " before the first turn"
	}
	return fmt.Sprintf(" at turn %d", v.Turns+1)
}

// unresolved explains why a patch was rejected without a test result.
func (v trajectoryView) unresolved(reason relabel.VerdictReason) string {
	switch reason {
	case relabel.VerdictEmptyPatch:
		return "The patch is empty."
	case relabel.VerdictDoesNotApply:
		return "The patch does not apply to the base commit."
	case relabel.VerdictUnsafe:
		return "The patch leaves the repository, or touches .git."
	case relabel.VerdictTimedOut:
		return fmt.Sprintf("The tests ran longer than %d seconds.", v.Iteration.LimitsIn(v.Run).VerifySeconds)
	case relabel.VerdictUnfinished:
		return "The tests stopped early twice with this patch, but not with the gold patch."
	case relabel.VerdictTampered:
		return "The tests passed, but the verifier's canaries in the same run did not give the expected results: the patch changes how tests are run or reported."
	}
	return "The verdict is " + string(reason) + "."
}

// ended describes the end of the rollout.
func (v trajectoryView) ended() string {
	limits, bound := v.Iteration.LimitsIn(v.Run), ""
	switch v.EndReason {
	case "":
		return ""
	case relabel.EndMaxTurns:
		bound = fmt.Sprintf(" (%d)", limits.MaxTurns)
	case relabel.EndContext:
		bound = fmt.Sprintf(" (%s tokens)", chart.Grouped(int64(limits.MaxContextTokens)))
	case relabel.EndWallClock:
		bound = fmt.Sprintf(" (%d seconds)", limits.WallClockSeconds)
	case relabel.EndNoCall:
		bound = " in three actions in a row"
	case relabel.EndPromptTooLong:
		bound = fmt.Sprintf(" (%s tokens)", chart.Grouped(int64(limits.MaxPromptTokens)))
	case relabel.EndTeacherTurns:
		bound = " (" + string(v.Iteration.LabelRule) + ")"
	}
	word := endWord(v.EndReason)
	submission := "without a valid submission"
	if v.Submitted != nil && *v.Submitted {
		submission = "with a valid submission"
	}
	return strings.ToUpper(word[:1]) + word[1:] + bound + ", " + submission + "."
}

// inexact says how many tests did not end as the task's exact outcome demands, and names the first in order.
func inexact(task relabel.Task, tests map[string]relabel.TestStatus) string {
	var names []string
	for test, status := range tests {
		if !task.Satisfied(test, status) {
			names = append(names, test)
		}
	}
	if len(names) == 0 {
		return "The outcome of the tests is not the expected one."
	}
	first := slices.Min(names)
	expected := cmp.Or(task.Expected[first], relabel.TestAbsent)
	return fmt.Sprintf("%d of %d tests did not end as expected: %s is %s instead of %s.", len(names), len(tests), first, tests[first], expected)
}

// failedOf returns the tests that did not pass: those that the patch should have fixed, and those
// that it broke. rows have failed tests first.
func failedOf(rows []testRow) (all []failedTests) {
	for _, kind := range []struct{ must, says string }{{"failed", "that should pass now fail"}, {"passed", "that passed before fail"}} {
		f := failedTests{Says: kind.says}
		for _, r := range rows {
			if r.Must != kind.must {
				continue
			}
			f.Of++
			if r.rank == passedRank {
				continue
			}
			if f.Count++; f.Count <= namedTests {
				f.First = append(f.First, r)
			}
		}
		if f.Count > 0 {
			all = append(all, f)
		}
	}
	return all
}
