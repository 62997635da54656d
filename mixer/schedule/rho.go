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
	Ranges   = "ranges"
	Weights  = "weights"
)

// Kappa draws the student-prefix length κ ~ ρi of iteration i (eq. 9):
//
//	shifting  the longest of i draws from Unif{0..max}: P(κ ≤ k) = ((k+1)/(max+1))^i
//	uniform   Unif{0..max} in every iteration
//	constant  max
//	list      values[i]; after the end of the list its last value
//	ranges    Unif{lowest..highest} of ranges[i], likewise
//	weights   k with probability weights[i][k] ÷ Σ weights[i], likewise
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
	case Ranges:
		r := ofIteration(s.Ranges, i)
		return r[0] + stream.Uniform(r[1]-r[0]+1)
	case Weights:
		return weighted(ofIteration(s.Weights, i), stream)
	}
	return ofIteration(s.Values, i)
}

// ofIteration is the item of a list for iteration i; the last one applies to all later iterations.
func ofIteration[T any](list []T, i int) T { return list[min(i, len(list))-1] }

// weighted draws an index of weights with probability in proportion to its weight. It compares sums
// that every machine rounds alike.
func weighted(weights []float64, stream Stream) int {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	left := float64(stream.unit() * total)
	last := 0
	for k, w := range weights {
		if w == 0 {
			continue
		}
		if left < w {
			return k
		}
		left -= w
		last = k
	}
	return last // what rounding left over
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
	switch s.Kind {
	case List:
		if len(s.Values) == 0 {
			return relabel.Errorf(relabel.CodeInvalid, "is empty; a list needs at least one value").On("rho.values")
		}
	case Ranges:
		return validateRanges(s.Ranges, kappa)
	case Weights:
		return validateWeights(s.Weights, kappa)
	}
	return nil
}

func validateRanges(ranges [][]int, kappa api.Field) error {
	if len(ranges) == 0 {
		return relabel.Errorf(relabel.CodeInvalid, "is empty; give at least one range [lowest, highest]").On("rho.ranges")
	}
	for i, r := range ranges {
		field := "rho.ranges[" + strconv.Itoa(i) + "]"
		if len(r) != 2 || r[0] > r[1] {
			return relabel.Errorf(relabel.CodeInvalid, "is not a range [lowest, highest]").On(field)
		}
		for k, v := range r {
			if err := kappa.Check(reflect.ValueOf(v), field+"["+strconv.Itoa(k)+"]"); err != nil {
				return err
			}
		}
	}
	return nil
}

func validateWeights(weights [][]float64, kappa api.Field) error {
	if len(weights) == 0 {
		return relabel.Errorf(relabel.CodeInvalid, "is empty; give at least one list of weights").On("rho.weights")
	}
	for i, list := range weights {
		field := "rho.weights[" + strconv.Itoa(i) + "]"
		if err := kappa.Check(reflect.ValueOf(len(list)-1), field); err != nil {
			return relabel.Errorf(relabel.CodeInvalid, "is empty, or has weights for more turns than a run may have").On(field)
		}
		total := 0.0
		for k, w := range list {
			if !(w >= 0) || w > maxWeight {
				return relabel.Errorf(relabel.CodeInvalid, "is %v: a weight is from 0 to %v", w, maxWeight).On(field + "[" + strconv.Itoa(k) + "]")
			}
			total += w
		}
		if total == 0 {
			return relabel.Errorf(relabel.CodeInvalid, "has no weight above 0").On(field)
		}
	}
	return nil
}

// maxWeight keeps sums of weights finite.
const maxWeight = 1e9
