package shard

import (
	"testing"

	"relabel"
)

func TestTheReadmeSaysAllThatASelectionAsksFor(t *testing.T) {
	got := asked(relabel.ExportSelection{Submitted: true, EndReasons: []relabel.EndReason{relabel.EndFinish}, Agreement: relabel.AgreementDiffers, LeaveOutFlags: []string{"odd", "wrong"}})
	if want := "valid submissions, of those whose end is one of [finish], where the label was not executed, without what reviews flagged odd, wrong"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}
