package cli

import (
	"testing"

	"relabel"
)

func TestTheTableOfIterationsCountsApartWhatHasNoVerdict(t *testing.T) {
	for want, p := range map[string]relabel.Progress{
		"1 of 4":                           {Resolved: 1, Verified: 4},
		"1 of 4 (2 not verified)":          {Resolved: 1, Verified: 4, Unverified: 2},
		"1 of 4 (3 cut by the label rule)": {Resolved: 1, Verified: 4, Cut: 3},
		"0 of 0 (2 not verified) (3 cut by the label rule)": {Unverified: 2, Cut: 3},
	} {
		if got := resolvedOf(p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
