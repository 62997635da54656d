package schedule

import (
	"reflect"
	"strconv"

	"relabel"
	"relabel/api"
)

// The kinds of ρ schedule in addition to those of β.
const (
	Shifting = "shifting"
	Uniform  = "uniform"
)

// PaperRho is ρi of the paper: Unif{0, …, 40}, its mass moving to longer student
// prefixes as iterations pass (F.1).
var PaperRho = relabel.RhoSchedule{Kind: Shifting, Max: 40}

// Kappa draws the student-prefix length κ ~ ρi of iteration i (eq. 9):
//
//	shifting  the longest of i draws from Unif{0..max}: P(κ ≤ k) = ((k+1)/(max+1))^i
//	uniform   Unif{0..max} in every iteration
//	constant  max
//	list      values[i]; after the end of the list its last value
//
// The paper gives shifting's support, its first law and its direction, but no formula. This one is
// Unif{0..40} at i = 1; each later law stochastically dominates the one before, with a mean near
// max·i/(i+1), that is 20, 27, 30, 32, 33; no length loses all its mass; and only integers are drawn,
// so it is the same on any machine.
//
// The schedule is valid and i at least 1. κ may be above Tmax; the student then
// executes every turn.
func Kappa(s relabel.RhoSchedule, i int, stream Stream) int {
	switch s.Kind {
	case Shifting:
		longest := 0
		for range i {
			longest = max(longest, stream.Uniform(s.Max+1))
		}
		return longest
	case Uniform:
		return stream.Uniform(s.Max + 1)
	case Constant:
		return s.Max
	}
	return s.Values[min(i, len(s.Values))-1]
}

// ValidateRho checks a ρ schedule. Errors are CodeInvalid and name the field, such as
// rho.max.
func ValidateRho(s relabel.RhoSchedule) error {
	if err := api.Validate(s, s, "rho"); err != nil {
		return err
	}
	kappa := api.FieldOf(s, "max")
	for k, v := range s.Values {
		if err := kappa.Check(reflect.ValueOf(v), "rho.values["+strconv.Itoa(k)+"]"); err != nil {
			return err
		}
	}
	if s.Kind == List && len(s.Values) == 0 {
		return relabel.Errorf(relabel.CodeInvalid, "is empty; a list needs at least one value").On("rho.values")
	}
	return nil
}
