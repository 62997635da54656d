package failuremode

import (
	"slices"
	"strconv"

	"relabel"
	"relabel/evaluation"
	"relabel/stats"
)

// Judged compares judged with computed modes, by judge and prompt in the order of the tallies. Iterations
// that are not listed, which began later, are not counted.
func Judged(iterations []relabel.Iteration, tallies []relabel.JudgeTally) []relabel.JudgedFailures {
	all := []relabel.JudgedFailures{}
	for len(tallies) > 0 {
		first := tallies[0]
		n := slices.IndexFunc(tallies, func(t relabel.JudgeTally) bool { return t.PolicyID != first.PolicyID || t.Prompt != first.Prompt })
		if n < 0 {
			n = len(tallies)
		}
		all = append(all, judgedBy(iterations, tallies[:n]))
		tallies = tallies[n:]
	}
	return all
}

func judgedBy(iterations []relabel.Iteration, tallies []relabel.JudgeTally) relabel.JudgedFailures {
	first := tallies[0]
	j := relabel.JudgedFailures{PolicyID: first.PolicyID, Prompt: first.Prompt, PromptVersion: first.PromptVersion, Gold: first.Gold, Iterations: []relabel.JudgedIteration{}}
	var listed []relabel.JudgeTally
	for _, it := range iterations {
		own := selected(tallies, func(t relabel.JudgeTally) bool { return t.IterationID == it.ID })
		if len(own) > 0 {
			j.Iterations = append(j.Iterations, judgedIteration(it, own))
			listed = append(listed, own...)
		}
	}
	j.Agreements = agreements(selected(listed, hasJudgement))
	return j
}

func selected(tallies []relabel.JudgeTally, is func(relabel.JudgeTally) bool) []relabel.JudgeTally {
	return slices.DeleteFunc(slices.Clone(tallies), func(t relabel.JudgeTally) bool { return !is(t) })
}

func hasJudgement(t relabel.JudgeTally) bool { return t.Outcome == relabel.Judged }

// partition selects the tallies of submissions, or those of the other trajectories.
func partition(tallies []relabel.JudgeTally, submitted bool) []relabel.JudgeTally {
	return selected(tallies, func(t relabel.JudgeTally) bool { return t.Submitted == submitted })
}

func judgedIteration(it relabel.Iteration, tallies []relabel.JudgeTally) relabel.JudgedIteration {
	j := relabel.JudgedIteration{IterationID: it.ID, Kind: it.Kind, Number: it.Number}
	for _, t := range tallies {
		switch t.Outcome {
		case relabel.Judged:
			j.Judged += t.Count
			j.HiddenTurns += t.HiddenTurns
			j.ShortenedTexts += t.ShortenedTexts
		case relabel.JudgeInvalid:
			j.Invalid += t.Count
		case relabel.JudgeMissing:
			j.Missing += t.Count
		}
	}
	valid := selected(tallies, hasJudgement)
	j.Unresolved = judgedModes(partition(valid, true), relabel.SubmittedModes)
	j.NoSubmission = judgedModes(partition(valid, false), relabel.NotSubmittedModes)
	j.ToolUseError = relabel.JudgedCount{
		Computed: judgedShare(valid, func(t relabel.JudgeTally) bool { return t.ToolUseError }),
		Judged:   judgedShare(valid, func(t relabel.JudgeTally) bool { return t.JudgedToolUse }),
	}
	return j
}

func judgedModes(tallies []relabel.JudgeTally, modes []relabel.FailureMode) []relabel.JudgedCount {
	counts := make([]relabel.JudgedCount, len(modes))
	for i, mode := range modes {
		final := judgedShare(tallies, func(t relabel.JudgeTally) bool { return relabel.FinalMode(t.Mode, t.JudgedMode) == mode })
		counts[i] = relabel.JudgedCount{Mode: mode, Final: &final,
			Computed: judgedShare(tallies, func(t relabel.JudgeTally) bool { return t.Mode == mode }),
			Judged:   judgedShare(tallies, func(t relabel.JudgeTally) bool { return t.JudgedMode == mode })}
	}
	return counts
}

// judgedShare is the share of trajectories that are counted.
func judgedShare(tallies []relabel.JudgeTally, counted func(relabel.JudgeTally) bool) relabel.Proportion {
	var c evaluation.ByTask
	for _, t := range tallies {
		if counted(t) {
			c.Add(t.TaskID, t.Count, t.Count)
		} else {
			c.Add(t.TaskID, 0, t.Count)
		}
	}
	return c.Proportion()
}

// agreements compares modes within each partition, since a judge knows the partition, and tool-use errors.
func agreements(tallies []relabel.JudgeTally) []relabel.JudgeAgreement {
	modes := func(t relabel.JudgeTally) (computed, judged string) { return string(t.Mode), string(t.JudgedMode) }
	return []relabel.JudgeAgreement{
		agreement("submitted", partition(tallies, true), names(relabel.SubmittedModes), modes),
		agreement("no_submission", partition(tallies, false), names(relabel.NotSubmittedModes), modes),
		agreement("tool_use_error", tallies, []string{"true", "false"}, func(t relabel.JudgeTally) (computed, judged string) {
			return strconv.FormatBool(t.ToolUseError), strconv.FormatBool(t.JudgedToolUse)
		}),
	}
}

func names(modes []relabel.FailureMode) []string {
	all := make([]string, len(modes))
	for i, mode := range modes {
		all[i] = string(mode)
	}
	return all
}

func agreement(among string, tallies []relabel.JudgeTally, categories []string, of func(relabel.JudgeTally) (computed, judged string)) relabel.JudgeAgreement {
	a := relabel.JudgeAgreement{Among: among, Confusion: []relabel.ConfusionCount{}}
	a.Equal = judgedShare(tallies, func(t relabel.JudgeTally) bool {
		computed, judged := of(t)
		return computed == judged
	})
	table := make([][]int, len(categories))
	for i := range table {
		table[i] = make([]int, len(categories))
	}
	for _, t := range tallies {
		computed, judged := of(t)
		table[slices.Index(categories, computed)][slices.Index(categories, judged)] += t.Count
	}
	for i, row := range table {
		for j, n := range row {
			if n > 0 {
				a.Confusion = append(a.Confusion, relabel.ConfusionCount{Computed: categories[i], Judged: categories[j], Count: n})
			}
		}
	}
	if kappa, known := stats.Kappa(table); known {
		a.Kappa = &kappa
	}
	return a
}
