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

// LogRatios returns the weights of the student's own action in opd: log πe − log πθ of each
// token, or with bySum their sum over the turn for every token (paper table 2 and appendix A).
// Both arguments are log-probabilities of the action's tokens at T = 1.
func LogRatios(teacher, student []float32, bySum bool) []float32 {
	out := make([]float32, len(student))
	sum := 0.0
	for i := range out {
		ratio := float64(teacher[i]) - float64(student[i])
		sum += ratio
		out[i] = float32(ratio)
	}
	for i := range out {
		if bySum {
			out[i] = float32(sum)
		}
	}
	return out
}

// Constants of Advantage.
const (
	Epsilon = 1e-6 // ε, added to the standard deviation
	DDoF    = 1    // the standard deviation divides by n − 1
)

// Advantage returns A = (R − mean) ÷ (std + ε) of a reward in its group (paper table 2, grpo).
// rewards are those of all members, the given one included; at least two.
func Advantage(reward float64, rewards []float64) float64 {
	n, mean, squares := float64(len(rewards)), 0.0, 0.0
	for _, r := range rewards {
		mean += r / n
	}
	for _, r := range rewards {
		squares += (r - mean) * (r - mean)
	}
	return (reward - mean) / (math.Sqrt(squares/(n-DDoF)) + Epsilon)
}
