package shard

import (
	"testing"

	"relabel"
)

func TestATrajectoryThatWasNotVerifiedIsExcludedFromWhatReliesOnVerdicts(t *testing.T) {
	yes := true
	tr := relabel.ExportTrajectory{Iteration: relabel.Iteration{Kind: relabel.Collect}}
	tr.Trajectory = relabel.Trajectory{Kind: relabel.Collect, State: relabel.Done, Submitted: &yes, SkipVerify: true}
	for name, c := range map[string]struct {
		sel  relabel.ExportSelection
		want Reason
	}{
		"submitted":     {relabel.ExportSelection{Submitted: true}, ""},
		"resolved":      {relabel.ExportSelection{Submitted: true, Resolved: true}, NotVerified},
		"mixed rewards": {relabel.ExportSelection{MixedRewards: true}, NotVerified},
		"protections":   {relabel.ExportSelection{VerdictProtections: 1}, NotVerified},
	} {
		if got, _ := excludeTrajectory(relabel.DAgger, c.sel, tr); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	version := relabel.ProtectionsVersion
	tr.Trajectory.Passed, tr.Trajectory.Resolved, tr.Trajectory.Protections = &yes, &yes, &version // graded later
	if got, _ := excludeTrajectory(relabel.DAgger, relabel.ExportSelection{Submitted: true, Resolved: true}, tr); got != "" {
		t.Errorf("graded later: %q", got)
	}
}
