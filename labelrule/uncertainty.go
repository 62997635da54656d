package labelrule

import (
	"math"
	"slices"

	"relabel"
)

// Uncertainty is the mean negative log-probability of an action's tokens in nats per token; nil without
// tokens, or if it is not a finite number.
func Uncertainty(logprobs []float32) *float64 {
	if len(logprobs) == 0 {
		return nil
	}
	sum := 0.0
	for _, l := range logprobs {
		sum -= float64(l)
	}
	mean := sum / float64(len(logprobs))
	if math.IsNaN(mean) || math.IsInf(mean, 0) {
		return nil
	}
	return &mean
}

// percents are the shares at which uncertainties are described.
var percents = []int{10, 25, 50, 75, 90}

// uncertainty are the student's uncertainties in an iteration.
type uncertainty struct {
	known   []float64
	unknown int
}

func (u *uncertainty) add(mean *float64) {
	if mean == nil {
		u.unknown++
		return
	}
	u.known = append(u.known, *mean)
}

// quantiles describes the uncertainties, which it sorts.
func (u *uncertainty) quantiles(it relabel.Iteration) relabel.UncertaintyQuantiles {
	q := relabel.UncertaintyQuantiles{IterationID: it.ID, Number: it.Number, Known: len(u.known), Unknown: u.unknown, Quantiles: []relabel.Quantile{}}
	slices.Sort(u.known)
	for _, p := range percents {
		if len(u.known) > 0 { // the smallest value that at least p percent do not exceed
			q.Quantiles = append(q.Quantiles, relabel.Quantile{At: float64(p) / 100, Value: u.known[(p*len(u.known)+99)/100-1]})
		}
	}
	return q
}
