package relabel_test

import (
	"slices"
	"testing"

	"relabel"
)

// TestModeFlagsAreNoFlagsOfReviews: each mode and the tool-use error have a flag, which no review can have.
func TestModeFlagsAreNoFlagsOfReviews(t *testing.T) {
	flags := relabel.ModeFlags()
	if len(flags) != len(relabel.NotSubmittedModes)+len(relabel.SubmittedModes)+1 {
		t.Errorf("the flags are %q", flags)
	}
	for _, flag := range flags {
		name, is := relabel.CutModeFlag(flag)
		if !is || name == "" || relabel.IsFlag(flag) {
			t.Errorf("%q can be a flag of reviews, or names no mode", flag)
		}
	}
	if slices.Contains(flags, relabel.NoModeFlag) {
		t.Error("a request can name the flag of trajectories without a computed mode")
	}
	if _, is := relabel.CutModeFlag("loop"); is {
		t.Error("a flag of reviews is the flag of a mode")
	}
}
