package cli

import (
	"fmt"
	"slices"
	"testing"

	"relabel"
)

func TestTheTableOfIterationsCountsApartWhatHasNoVerdict(t *testing.T) {
	for want, p := range map[string]relabel.Progress{
		"[1 of 4 0]":                          {Resolved: 1, Verified: 4},
		"[1 of 4 (2 not verified) 3]":         {Resolved: 1, Verified: 4, PassedUnsubmitted: 3, Unverified: 2},
		"[1 of 4 (3 cut) 0]":                  {Resolved: 1, Verified: 4, Cut: 3},
		"[0 of 0 (2 not verified) (3 cut) 0]": {Unverified: 2, Cut: 3},
	} {
		if got := fmt.Sprint(grades(relabel.Repair, p)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTheTableOfIterationsHasScoresOfTasksToLocalise(t *testing.T) {
	for want, p := range map[string]relabel.Progress{
		"[0.250 3 of 4]":              {Scored: 4, Hit: 3, MeanScore: new(0.25), Submitted: 4},
		"[– (1 not verified) 0 of 0]": {Unverified: 1},
	} {
		if got := fmt.Sprint(grades(relabel.Localise, p)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	repair, localise := relabel.Run{TaskKind: relabel.Repair}, relabel.Run{TaskKind: relabel.Localise}
	for want, runs := range map[string][]relabel.Run{"RESOLVED": {repair}, "SCORE": {localise, localise}, "RESOLVED OR SCORE": {repair, localise}} {
		if heads := gradeHeads(runs); !slices.Contains(heads, want) || len(heads) != 2 {
			t.Errorf("%v, want %s", heads, want)
		}
	}
}
