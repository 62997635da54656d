package failuremode

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"relabel"
	"relabel/gitdiff"
)

// Classify returns the primary mode of a done trajectory with the turns that show it, and its
// tool-use errors. turns are all its turns, in order.
func Classify(e relabel.FailureEvidence, turns []Trace) relabel.FailureFinding {
	f := relabel.FailureFinding{Turns: []int{}, ToolTurns: []int{}, Rules: relabel.FailureRules}
	for _, turn := range turns {
		if turn.ToolError {
			f.ToolTurns = append(f.ToolTurns, turn.T)
		}
	}
	f.ToolUseError = len(f.ToolTurns) >= relabel.ToolUseErrorTurns
	switch tr := e.Trajectory; {
	case tr.EndReason.Cut(), e.Kind == relabel.Localise, e.Kind == relabel.Terminal: // on purpose; a score is no failure
	case tr.Submitted == nil || !*tr.Submitted:
		f.Mode, f.Reason, f.Turns = notSubmitted(e, turns)
	case tr.Resolved != nil && !*tr.Resolved && e.Verdict != nil:
		f.Mode, f.Reason, f.Turns = unresolved(e, turns)
	}
	return f
}

// notSubmitted is the mode of a trajectory without a valid submission.
func notSubmitted(e relabel.FailureEvidence, turns []Trace) (mode relabel.FailureMode, reason string, cited []int) {
	end := e.Trajectory.EndReason
	if n, actions := loopAt(turns); n > 0 {
		reason = fmt.Sprintf("the last %d turns repeat one action with the same observation", n)
		if actions > 1 {
			reason = fmt.Sprintf("the last %d turns repeat a cycle of %d actions", n, actions)
		}
		return relabel.ModeLoop, reason, numbers(turns[len(turns)-n:])
	}
	last := numbers(turns[max(0, len(turns)-1):])
	switch {
	case end == relabel.EndContext:
		return relabel.ModeOverflow, "the state no longer fits the context limit", last
	case end == relabel.EndMaxTurns:
		return relabel.ModeBudget, "all turns were used", last
	case end == relabel.EndWallClock:
		return relabel.ModeBudget, "the rollout's time was used up", last
	case e.Patch != nil && len(e.Patch) == 0 && end != relabel.EndSandboxBroken:
		return relabel.ModeNoEdit, "the rollout changed no file", last
	}
	return relabel.ModeOther, "the rollout ended by " + string(end) + " without a valid submission", last
}

// unresolved is the mode of a submission that does not pass its tests.
func unresolved(e relabel.FailureEvidence, turns []Trace) (mode relabel.FailureMode, reason string, cited []int) {
	changed, complete := paths(string(e.Patch))
	gold, goldComplete := paths(e.GoldPatch)
	if file := compileError(string(e.Verdict.Output), graded(changed, e.Verdict.Dropped)); file != "" {
		return relabel.ModeSyntax, file + " does not compile, according to the output of the tests", editsOf(turns, []string{file})
	}
	if reason := notCollected(*e.Verdict); reason != "" {
		return relabel.ModeSyntax, reason, editsOf(turns, changed)
	}
	hit := slices.DeleteFunc(slices.Clone(changed), func(p string) bool { return !slices.Contains(gold, p) })
	switch {
	case len(hit) > 0:
		return relabel.ModeWrongSolution, "it changes " + named(hit) + " as the gold patch does, and does not pass the tests", editsOf(turns, hit)
	case len(gold) == 0:
		return relabel.ModeWrongSolution, "it does not pass the tests; the task has no gold patch to compare its files with", editsOf(turns, changed)
	case !complete || !goldComplete:
		return relabel.ModeWrongSolution, "it does not pass the tests; not all changed files could be read from the patch", editsOf(turns, changed)
	}
	return relabel.ModeWrongFile, "it changes " + named(changed) + ", the gold patch " + named(gold), editsOf(turns, changed)
}

// notCollected returns how the verdict shows that no test of the task could be collected or that the
// run of the tests was aborted, "" if it does not. A run that was too slow shows neither.
func notCollected(v relabel.Verdict) string {
	if v.Reason == relabel.VerdictUnfinished {
		return "the tests aborted with the submission"
	}
	if v.Reason != relabel.VerdictTests || len(v.Tests) == 0 {
		return ""
	}
	for _, status := range v.Tests {
		if status != relabel.TestAbsent && status != relabel.TestError {
			return ""
		}
	}
	return fmt.Sprintf("none of the task's %d tests could be collected or set up", len(v.Tests))
}

// paths returns the paths that a patch changes, before and after; complete is false if it is not
// readable to its end.
func paths(patch string) (all []string, complete bool) {
	files, err := gitdiff.Parse(patch)
	set := map[string]bool{}
	for _, f := range files {
		set[f.Old], set[f.New] = true, true
	}
	delete(set, "")
	return slices.Sorted(maps.Keys(set)), err == nil
}

// graded are the changed files without those that the verifier dropped.
func graded(changed []string, dropped []relabel.DroppedPath) []string {
	out := map[string]bool{}
	for _, d := range dropped {
		out[d.Path] = true
	}
	return slices.DeleteFunc(slices.Clone(changed), func(p string) bool { return out[p] })
}

// editsOf are the turns in which the editor changed one of the files. Edits by commands are not known.
func editsOf(turns []Trace, changed []string) []int {
	files := indexed(changed)
	return numbers(slices.DeleteFunc(slices.Clone(turns), func(t Trace) bool {
		return !slices.ContainsFunc(t.Edits, func(edited string) bool { return files.meant(edited) != "" })
	}))
}

func numbers(turns []Trace) []int {
	all := make([]int, len(turns))
	for i, t := range turns {
		all[i] = t.T
	}
	return all
}

// mostNamed bounds the files that a reason names.
const mostNamed = 3

func named(files []string) string {
	if len(files) == 0 {
		return "no file"
	}
	text := strings.Join(files[:min(mostNamed, len(files))], ", ")
	if more := len(files) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
