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
