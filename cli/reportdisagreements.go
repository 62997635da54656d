package cli

import (
	"cmp"
	"fmt"

	"relabel"
	"relabel/failuremode"
)

// printDisagreements prints one row for each tool and phase, then one for each pair of phases and of tools.
func printDisagreements(report relabel.DisagreementReport) error {
	for _, t := range disagreementTables(report) {
		if err := t.print(); err != nil {
			return err
		}
		fmt.Println()
	}
	return nil
}

func disagreementTables(report relabel.DisagreementReport) []*table {
	parts := newTable("ITERATION", "LABEL RULE", "BY", "STUDENT", "LABEL DIFFERS")
	phases := newTable("ITERATION", "STUDENT'S PHASE", "TEACHER'S PHASE", "TURNS THAT DIFFER")
	tools := newTable("ITERATION", "STUDENT'S TOOL", "TEACHER'S TOOL", "TURNS THAT DIFFER")
	for _, d := range report.Iterations {
		for _, part := range failuremode.DisagreementParts(d) {
			parts.row(d.Number, d.LabelRule, part.By, part.What, proportionText(part.Proportion))
		}
		for _, pair := range d.Pairs {
			phases.row(d.Number, pair.Student, pair.Teacher, pair.Turns)
		}
		for _, pair := range d.ToolPairs {
			tools.row(d.Number, cmp.Or(pair.Student, "no call"), cmp.Or(pair.Teacher, "no call"), pair.Turns)
		}
	}
	return []*table{parts, phases, tools}
}
