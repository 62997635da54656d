package shard

import (
	"maps"
	"strings"
	"testing"

	"relabel"
)

func TestFlaggedStatesAreExcludedAndCounted(t *testing.T) {
	whole, turn, loose := someTrajectory(1, 0, 4), someTrajectory(1, 2, 3), someTrajectory(1, 4, 2)
	whole.Flagged = []relabel.FlaggedState{{T: 0, Flag: "leak"}, {T: 2, Flag: "slow"}}
	turn.Flagged = []relabel.FlaggedState{{T: 3, Flag: "wrong-label"}}
	loose.Flagged = []relabel.FlaggedState{{T: 0, Flag: "leak"}}
	loose.Trajectory.Submitted = nil // what it was asked for first counts
	s := newFixedStore(whole, turn, loose)
	s.newExport("x", relabel.ExportSelection{Submitted: true, ExcludeFlags: []string{relabel.AnyFlag}})
	e := export(t, s, newTestExporter(t, s))
	want := map[string]int{"flagged": 5, "not_submitted": 2}
	if m := readManifest(t, e.Directory); !maps.Equal(m.Excluded, want) || m.States != 2 || m.Selection.ExcludeFlags[0] != relabel.AnyFlag {
		t.Errorf("the manifest says %+v", m)
	}
	said := filesBelow(t, e.Directory)[excludedName]
	for _, line := range []string{
		`{"reason":"flagged","trajectory":"` + whole.Trajectory.ID.String() + `","instance_id":"task-0","turn":null,"states":4,"detail":"leak"}`,
		`{"reason":"flagged","trajectory":"` + turn.Trajectory.ID.String() + `","instance_id":"task-2","turn":3,"states":1,"detail":"wrong-label"}`,
	} {
		if !strings.Contains(said, line+"\n") {
			t.Errorf("%s lacks %s:\n%s", excludedName, line, said)
		}
	}
}

// TestFailureModesAreExcludedByRequest: a mode and one that is not computed have reasons of their own,
// and a flag of a review comes first.
func TestFailureModesAreExcludedByRequest(t *testing.T) {
	loop, both, unknown, kept := someTrajectory(1, 0, 4), someTrajectory(1, 1, 3), someTrajectory(1, 2, 2), someTrajectory(1, 3, 1)
	loop.Flagged = []relabel.FlaggedState{{Flag: relabel.ModeLoop.Flag()}}
	both.Flagged = []relabel.FlaggedState{{Flag: "leak"}, {Flag: relabel.ToolUseErrorFlag}}
	unknown.Flagged = []relabel.FlaggedState{{Flag: relabel.NoModeFlag}}
	s := newFixedStore(loop, both, unknown, kept)
	s.newExport("x", relabel.ExportSelection{ExcludeFlags: []string{"leak", relabel.ModeLoop.Flag(), relabel.ToolUseErrorFlag}})
	e := export(t, s, newTestExporter(t, s))
	want := map[string]int{"failure_mode": 4, "flagged": 3, "failure_mode_missing": 2}
	if m := readManifest(t, e.Directory); !maps.Equal(m.Excluded, want) || m.States != 1 || m.Selection.ExcludeFlags[1] != "mode:loop" {
		t.Errorf("the manifest says %+v", m)
	}
	said := filesBelow(t, e.Directory)[excludedName]
	line := `{"reason":"failure_mode","trajectory":"` + loop.Trajectory.ID.String() + `","instance_id":"task-0","turn":null,"states":4,"detail":"loop"}`
	if !strings.Contains(said, line+"\n") {
		t.Errorf("%s lacks %s:\n%s", excludedName, line, said)
	}
}
