package shard

import (
	"testing"

	"relabel"
)

func TestARolloutThatTheRuleEndedIsExportedOnlyWithoutFiltersBySubmissionAndVerdict(t *testing.T) {
	tr := relabel.ExportTrajectory{Iteration: relabel.Iteration{Kind: relabel.Collect}}
	tr.Trajectory = relabel.Trajectory{Kind: relabel.Collect, State: relabel.Done, Submitted: new(false), EndReason: relabel.EndTeacherTurns}
	for name, c := range map[string]struct {
		sel  relabel.ExportSelection
		want Reason
	}{
		"submitted":     {relabel.ExportSelection{Submitted: true}, CutByRule},
		"resolved":      {relabel.ExportSelection{Submitted: true, Resolved: true}, CutByRule},
		"all":           {relabel.ExportSelection{}, ""},
		"by end":        {relabel.ExportSelection{EndReasons: []relabel.EndReason{relabel.EndTeacherTurns}}, ""},
		"mixed rewards": {relabel.ExportSelection{MixedRewards: true}, CutByRule},
		"protections":   {relabel.ExportSelection{VerdictProtections: 1}, CutByRule},
	} {
		if got, _ := excludeTrajectory(relabel.AggreVaTe, c.sel, tr); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
