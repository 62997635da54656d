package show

import (
	"testing"

	"relabel"
)

func TestARecoveryIsSaidWhereAtLeastTwoLabelsAgreeToTheEnd(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for course, want := range map[string][2]int{ // first parting, recovery
		"aaa": {0, 0}, "ada": {2, 0}, "adaa": {2, 3}, "daTa": {1, 2}, "daada": {1, 0}, "dmaa": {1, 3}, "dnana": {1, 3}, "nn": {0, 0}, "": {0, 0},
	} {
		var heads []relabel.TurnHead
		for i, mark := range course {
			h := relabel.TurnHead{T: i + 1, Executor: relabel.Student, Label: relabel.Received}
			switch mark {
			case 'a':
				h.Agrees = &yes
			case 'd':
				h.Agrees = &no
			case 'm':
				h.Label = relabel.Missing
			case 'n':
				h.Label = relabel.NotSelected
			case 'T':
				h.Executor = relabel.Teacher
			}
			heads = append(heads, h)
		}
		if c := CourseOf(heads); [2]int{c.First, c.Recovered} != want {
			t.Errorf("%s: parts at %d, recovers at %d, want %v", course, c.First, c.Recovered, want)
		}
	}
}
