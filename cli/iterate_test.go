package cli

import (
	"strings"
	"testing"

	"relabel"
)

func TestTheNotesOfADrawCountTheTasksThatItExcluded(t *testing.T) {
	if notes := drawNotes(relabel.Iteration{}); len(notes) != 0 {
		t.Errorf("%q", notes)
	}
	notes := drawNotes(relabel.Iteration{ReservedTasks: 3, Walk: &relabel.Walk{}})
	if len(notes) != 2 || !strings.HasPrefix(notes[1], "3 tasks were not drawn from") {
		t.Errorf("%q", notes)
	}
}
