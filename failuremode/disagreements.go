package failuremode

import (
	"cmp"
	"slices"

	"relabel"
	"relabel/evaluation"
)

// Disagreements sums the student turns with a label of a run's collect iterations.
func Disagreements(run relabel.ID, iterations []relabel.Iteration, tallies []relabel.ComparisonTally) relabel.DisagreementReport {
	by := map[relabel.ID][]relabel.ComparisonTally{}
	for _, t := range tallies {
		by[t.IterationID] = append(by[t.IterationID], t)
	}
	report := relabel.DisagreementReport{RunID: run, Iterations: []relabel.IterationDisagreements{}}
	for _, it := range iterations {
		if it.Kind == relabel.Collect {
			report.Iterations = append(report.Iterations, disagreementsOf(it, by[it.ID]))
		}
	}
	return report
}

func disagreementsOf(it relabel.Iteration, tallies []relabel.ComparisonTally) relabel.IterationDisagreements {
	d := relabel.IterationDisagreements{IterationID: it.ID, Number: it.Number, StudentID: it.StudentID, LabelRule: it.LabelRule,
		ByTool: []relabel.ToolDisagreement{}, ByPhase: []relabel.PhaseDisagreement{}, Pairs: []relabel.PhasePair{}, ToolPairs: toolPairs(tallies)}
	d.Differ = differing(tallies, func(relabel.ComparisonTally) bool { return true })
	var tools []string
	for _, t := range tallies {
		tools = append(tools, t.StudentTool)
	}
	slices.Sort(tools)
	for _, tool := range slices.Compact(tools) {
		d.ByTool = append(d.ByTool, relabel.ToolDisagreement{Tool: tool, Proportion: differing(tallies, func(t relabel.ComparisonTally) bool { return t.StudentTool == tool })})
	}
	for _, phase := range relabel.ActionPhases {
		d.ByPhase = append(d.ByPhase, relabel.PhaseDisagreement{Phase: phase, Proportion: differing(tallies, func(t relabel.ComparisonTally) bool { return t.StudentPhase == phase })})
		for _, teacher := range relabel.ActionPhases {
			pair := relabel.PhasePair{Student: phase, Teacher: teacher}
			for _, t := range tallies {
				if t.StudentPhase == phase && t.TeacherPhase == teacher {
					pair.Turns += t.Turns - t.Agreed
				}
			}
			if pair.Turns > 0 {
				d.Pairs = append(d.Pairs, pair)
			}
		}
	}
	slices.SortStableFunc(d.Pairs, func(a, b relabel.PhasePair) int { return cmp.Compare(b.Turns, a.Turns) })
	return d
}

// toolPairs sums the turns that differ by the tools of action and label, the most frequent first.
func toolPairs(tallies []relabel.ComparisonTally) []relabel.ToolPair {
	turns := map[relabel.ToolPair]int{}
	for _, t := range tallies {
		turns[relabel.ToolPair{Student: t.StudentTool, Teacher: t.TeacherTool}] += t.Turns - t.Agreed
	}
	pairs := []relabel.ToolPair{}
	for pair, n := range turns {
		if pair.Turns = n; n > 0 {
			pairs = append(pairs, pair)
		}
	}
	slices.SortFunc(pairs, func(a, b relabel.ToolPair) int {
		return cmp.Or(cmp.Compare(b.Turns, a.Turns), cmp.Compare(a.Student, b.Student), cmp.Compare(a.Teacher, b.Teacher))
	})
	return pairs
}

// differing is the share of the selected turns whose label differs.
func differing(tallies []relabel.ComparisonTally, selected func(relabel.ComparisonTally) bool) relabel.Proportion {
	var c evaluation.ByTask
	for _, t := range tallies {
		if selected(t) {
			c.Add(t.TaskID, t.Turns-t.Agreed, t.Turns)
		}
	}
	return c.Proportion()
}
