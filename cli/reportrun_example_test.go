package cli

import "relabel"

// Only the report of a run to localise names the one with its scores.
func Example_sayWhereScoresAre() {
	sayWhereScoresAre(relabel.Run{Name: "locate", TaskKind: relabel.Localise})
	sayWhereScoresAre(relabel.Run{Name: "fix", TaskKind: relabel.Repair})
	// Output: answers to localise have scores instead of verdicts, so nothing is resolved: `relabel report localise locate` shows them
}
