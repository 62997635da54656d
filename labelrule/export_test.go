package labelrule

import "relabel"

// DecideBy is Decide with given numbers instead of those of a place.
func (r Rule) DecideBy(uniform func(purpose string, t int) float64, executors relabel.Executors, s State) Decision {
	return r.decide(uniform, executors, s)
}
