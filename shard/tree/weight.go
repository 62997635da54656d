package tree

import (
	"math"

	"relabel"
)

// Normalisation selects how a label's weight is distributed over its tokens.
type Normalisation string

// Normalisations. Paper eq. 12 and 13 sum over a label's tokens: PerToken.
const (
	PerToken      Normalisation = "token"      // each token weighs w(s, a)
	PerTransition Normalisation = "transition" // each token weighs w(s, a) ÷ |ãt|, so that long labels weigh no more than short ones
)

// Weights returns the weight of each token of a label: w for every token if byToken is nil,
// otherwise the values of byToken (of either sign), normalised by n. The result is written to
// loss_weights bit for bit: loss = Σ w · nll (paper 3.3, eq. 14; table 2).
func (n Normalisation) Weights(w float32, byToken []float32, tokens int) ([]float32, error) {
	if byToken != nil && len(byToken) != tokens {
		return nil, relabel.Errorf(relabel.CodeInvalid, "%d weights for %d tokens", len(byToken), tokens)
	}
	share := 1.0
	switch n {
	case PerToken:
	case PerTransition:
		share = float64(tokens)
	default:
		return nil, relabel.Errorf(relabel.CodeInvalid, "unknown normalisation %q", string(n))
	}
	out := make([]float32, tokens)
	for i := range out {
		if byToken != nil {
			w = byToken[i]
		}
		v := float32(float64(w) / share)
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return nil, relabel.Errorf(relabel.CodeInvalid, "the weight of token %d is not a finite number", i)
		}
		if v == 0 {
			v = 0 // not −0, which JSON readers would turn into another number
		}
		out[i] = v
	}
	return out, nil
}
