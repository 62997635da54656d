package web

import (
	"fmt"
	"testing"
)

func TestAPageShowsTheFirstOfMuchGold(t *testing.T) {
	var gold []string
	for i := range mostGold + 3 {
		gold = append(gold, fmt.Sprint("a.py::f", i))
	}
	list := placesOf(gold, []string{"x", "a.py::f1"})
	if len(list.Rows) != mostGold || list.More != 3 || list.Rows[1].Place != 2 || list.Rows[0].Place != 0 {
		t.Errorf("%d rows, %d more, %+v", len(list.Rows), list.More, list.Rows[:2])
	}
	if v := (rankingView{Depth: mostGold + 5, Gold: list}); v.Most() != mostGold+3 {
		t.Errorf("the score can count %d", v.Most())
	}
}
