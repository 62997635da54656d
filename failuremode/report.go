package failuremode

import (
	"context"
	"slices"

	"relabel"
	"relabel/evaluation"
)

// Store reads what a report sums.
type Store interface {
	ListIterations(ctx context.Context, run relabel.ID) ([]relabel.Iteration, error)
	ListFailureTallies(ctx context.Context, run relabel.ID) ([]relabel.FailureTally, error)
	ListJudgeTallies(ctx context.Context, run relabel.ID) ([]relabel.JudgeTally, error)
}

// Read reports the computed and the judged failure modes of a stored run.
func Read(ctx context.Context, s Store, run relabel.ID) (relabel.FailureReport, error) {
	iterations, err := s.ListIterations(ctx, run)
	if err != nil {
		return relabel.FailureReport{}, err
	}
	tallies, err := s.ListFailureTallies(ctx, run)
	if err != nil {
		return relabel.FailureReport{}, err
	}
	judged, err := s.ListJudgeTallies(ctx, run)
	report := Report(run, iterations, tallies)
	report.Judges = Judged(iterations, judged)
	return report, err
}

// Report sums the done trajectories of a run by iteration and computed mode. Tallies of iterations that
// are not listed, which began later, are not counted.
func Report(run relabel.ID, iterations []relabel.Iteration, tallies []relabel.FailureTally) relabel.FailureReport {
	by := map[relabel.ID][]relabel.FailureTally{}
	for _, t := range tallies {
		by[t.IterationID] = append(by[t.IterationID], t)
	}
	report := relabel.FailureReport{RunID: run, Rules: relabel.FailureRules, Iterations: []relabel.IterationFailures{}, Judges: []relabel.JudgedFailures{}}
	for _, it := range iterations {
		report.Iterations = append(report.Iterations, failuresOf(it, by[it.ID]))
	}
	return report
}

// condition is a property of the trajectories of a tally.
type condition func(relabel.FailureTally) bool

func failuresOf(it relabel.Iteration, tallies []relabel.FailureTally) relabel.IterationFailures {
	classified := func(t relabel.FailureTally) bool { return t.Classified && t.Mode != "" }
	f := relabel.IterationFailures{IterationID: it.ID, Kind: it.Kind, Number: it.Number, StudentID: it.StudentID}
	tasks := map[relabel.ID]bool{}
	for _, t := range tallies {
		tasks[t.TaskID] = true
		f.Done += t.Count
		switch {
		case t.Cut:
			f.Cut += t.Count
		case t.Submitted && t.Resolved == nil:
			f.Unverified += t.Count
		case !t.Classified:
			f.Unclassified += t.Count
		}
	}
	f.Tasks = len(tasks)
	tallies = slices.DeleteFunc(slices.Clone(tallies), func(t relabel.FailureTally) bool { return t.Cut })
	all := func(relabel.FailureTally) bool { return true }
	submitted := func(t relabel.FailureTally) bool { return t.Submitted }
	known := func(t relabel.FailureTally) bool { return t.Resolved != nil || !t.Submitted && !t.Unverified }
	resolved := func(t relabel.FailureTally) bool { return t.Submitted && t.Resolved != nil && *t.Resolved }
	f.Resolved = proportion(tallies, known, resolved)
	f.Submitted = proportion(tallies, all, submitted)
	f.Unresolved = modes(tallies, relabel.SubmittedModes, func(t relabel.FailureTally) bool { return classified(t) && t.Submitted })
	f.NoSubmission = modes(tallies, relabel.NotSubmittedModes, func(t relabel.FailureTally) bool { return classified(t) && !t.Submitted })
	f.ToolUseError = proportion(tallies, func(t relabel.FailureTally) bool { return classified(t) && !t.Unverified }, func(t relabel.FailureTally) bool { return t.ToolUseError })
	return f
}

func modes(tallies []relabel.FailureTally, of []relabel.FailureMode, partition condition) []relabel.FailureCount {
	counts := make([]relabel.FailureCount, len(of))
	for i, mode := range of {
		counts[i] = relabel.FailureCount{Mode: mode, Proportion: proportion(tallies, partition, func(t relabel.FailureTally) bool { return t.Mode == mode })}
	}
	return counts
}

// proportion is the share of trajectories that are counted among those of the denominator.
func proportion(tallies []relabel.FailureTally, denominator, counted condition) relabel.Proportion {
	var c evaluation.ByTask
	for _, t := range tallies {
		switch {
		case !denominator(t):
		case counted(t):
			c.Add(t.TaskID, t.Count, t.Count)
		default:
			c.Add(t.TaskID, 0, t.Count)
		}
	}
	return c.Proportion()
}
