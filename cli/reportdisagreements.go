package cli

import (
	"fmt"

	"relabel"
)

// disagreementPart are the student turns of a kind: all of them, or those with a tool or in a phase.
type disagreementPart struct {
	by, what string
	relabel.Proportion
}

func disagreementParts(d relabel.IterationDisagreements) (parts []disagreementPart) {
	parts = []disagreementPart{{"all", "all", d.Differ}}
	for _, of := range d.ByTool {
		parts = append(parts, disagreementPart{"tool", of.Tool, of.Proportion})
	}
	for _, of := range d.ByPhase {
		parts = append(parts, disagreementPart{"phase", string(of.Phase), of.Proportion})
	}
	return parts
}

// printDisagreements prints one row for each tool and phase, then one for each pair of phases.
func printDisagreements(report relabel.DisagreementReport) error {
	t := newTable("ITERATION", "BY", "STUDENT", "LABEL DIFFERS")
	for _, d := range report.Iterations {
		for _, part := range disagreementParts(d) {
			t.row(d.Number, part.by, part.what, proportionText(part.Proportion))
		}
	}
	if err := t.print(); err != nil {
		return err
	}
	fmt.Println()
	t = newTable("ITERATION", "STUDENT", "TEACHER", "TURNS THAT DIFFER")
	for _, d := range report.Iterations {
		for _, pair := range d.Pairs {
			t.row(d.Number, pair.Student, pair.Teacher, pair.Turns)
		}
	}
	return t.print()
}

// printDisagreementRows prints one line for each proportion and one for each pair of phases, whose
// denominator and share are empty.
func printDisagreementRows(report relabel.DisagreementReport) error {
	var rows [][]any
	for _, d := range report.Iterations {
		for _, part := range disagreementParts(d) {
			rows = append(rows, []any{d.Number, d.IterationID, part.by, part.what, "", part.Count, part.Of, part.Share, part.Low, part.High})
		}
		for _, pair := range d.Pairs {
			rows = append(rows, []any{d.Number, d.IterationID, "pair", pair.Student, pair.Teacher, pair.Turns, "", "", "", ""})
		}
	}
	return printCSV([]string{"iteration", "iteration_id", "by", "student", "teacher", "count", "of", "share", "low", "high"}, rows)
}
