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

// uncertainties describes the student's uncertainty by iteration.
func (in Stored) uncertainties() []relabel.UncertaintyQuantiles {
	list := []relabel.UncertaintyQuantiles{}
	for _, it := range in.collected() {
		u := relabel.UncertaintyQuantiles{IterationID: it.ID, Number: it.Number, Quantiles: []relabel.Quantile{}}
		var known []float64
		for _, tr := range in.Trajectories {
			for t, s := range tr.States {
				switch {
				case tr.IterationID != it.ID || tr.Executors.At(t+1) == relabel.Teacher:
				case s.Uncertainty == nil:
					u.Unknown++
				default:
					known = append(known, *s.Uncertainty)
				}
			}
		}
		u.Known = len(known)
		slices.Sort(known)
		for _, p := range percents {
			if len(known) > 0 { // the smallest value that at least p percent do not exceed
				u.Quantiles = append(u.Quantiles, relabel.Quantile{At: float64(p) / 100, Value: known[(p*len(known)+99)/100-1]})
			}
		}
		list = append(list, u)
	}
	return list
}
