package cli

import (
	"strings"
	"testing"

	"relabel"
	"relabel/api"
)

func TestTheNotesOfADrawCountTheTasksThatItExcluded(t *testing.T) {
	if notes := drawNotes(api.IterationView{}); len(notes) != 0 {
		t.Errorf("%q", notes)
	}
	notes := drawNotes(api.IterationView{Iteration: relabel.Iteration{ReservedTasks: 3, Walk: &relabel.Walk{}}, ReservedBy: []string{"small", "verified"}})
	if len(notes) != 2 || !strings.HasPrefix(notes[1], "3 tasks were not drawn from, since the benchmarks and exclusion lists small, verified reserve them") {
		t.Errorf("%q", notes)
	}
}
