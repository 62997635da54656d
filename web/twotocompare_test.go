package web

import (
	"testing"

	"relabel"
)

func TestTwoToCompareAreOneWithAHitAndOneWithout(t *testing.T) {
	row := func(hits int) listRow {
		return listRow{Trajectory: relabel.Trajectory{ID: relabel.NewID(), Turns: 1, Hits: &hits}}
	}
	list := []listRow{row(0), row(0), row(2), row(1)}
	if a, b := twoToCompare(list); a != list[2].ID.String() || b != list[0].ID.String() {
		t.Errorf("%s and %s", a, b)
	}
}
