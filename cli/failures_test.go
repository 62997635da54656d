package cli

import (
	"testing"

	"relabel"
)

func TestEqualCausesAreCountedTogether(t *testing.T) {
	one, two := relabel.NewID().String(), relabel.NewID().String()
	got := causesOf([]relabel.Trajectory{
		{Failure: relabel.FailInternal, FailureDetail: "alone"},
		{Failure: relabel.FailEnvironment, FailureDetail: "create " + one + "\n  failed"},
		{Failure: relabel.FailVerifier, FailureDetail: "create " + two + " failed"},
		{Failure: relabel.FailEnvironment, FailureDetail: "create " + two + " failed"},
	})
	if len(got) != 3 || got[0] != (cause{relabel.FailEnvironment, "create … failed", 2}) {
		t.Errorf("got %+v", got)
	}
}
