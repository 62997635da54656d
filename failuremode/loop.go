package failuremode

import "slices"

const (
	leastRepeats  = 4 // turns at the end that repeat one action with the same observation
	longestCycle  = 3 // actions in a cycle; the shortest has two
	leastInCycles = 3 // repetitions of a cycle at the end
)

// loopAt returns the length of the repetition at the end of the turns, and its number of actions; 0
// if they do not end in one. One action must have the same observation each time. A cycle has two or
// three actions, not all equal, whatever their observations.
func loopAt(turns []Trace) (length, actions int) {
	same := func(a, b Trace) bool { return a.Action == b.Action && a.Observed == b.Observed }
	if n := periodic(turns, 1, same); n >= leastRepeats {
		return n, 1
	}
	for period := 2; period <= longestCycle; period++ {
		n := periodic(turns, period, func(a, b Trace) bool { return a.Action == b.Action })
		if n >= leastInCycles*period && differ(turns[len(turns)-period:]) {
			return n, period
		}
	}
	return 0, 0
}

// periodic returns the length of the longest end of the turns in which each equals the one a period
// before it.
func periodic(turns []Trace, period int, equal func(a, b Trace) bool) int {
	n := min(period, len(turns))
	for n < len(turns) && equal(turns[len(turns)-1-n], turns[len(turns)-1-n+period]) {
		n++
	}
	return n
}

func differ(turns []Trace) bool {
	return slices.ContainsFunc(turns, func(t Trace) bool { return t.Action != turns[0].Action })
}
