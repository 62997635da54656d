package relabel

import (
	"errors"
	"testing"
)

func TestWeightsOfALabelMultiply(t *testing.T) {
	w := LabelWeights{Weight: new(2.0), Iterations: []IterationWeight{{Iteration: 2, Weight: 0.25}},
		Betas: []BetaWeight{{Min: 0.5, Max: 1, Weight: 3}}, AgeDecay: new(0.5)}
	for _, try := range []struct {
		it   Iteration
		want float64
	}{
		{Iteration{Number: 4}, 2},
		{Iteration{Number: 3, Beta: new(0.4)}, 1},
		{Iteration{Number: 4, Beta: new(0.5)}, 6},
		{Iteration{Number: 2, Beta: new(1.0)}, 2 * 0.25 * 3 * 0.25},
	} {
		if got := w.Of(try.it, 4); got != try.want {
			t.Errorf("%+v: %v, want %v", try.it, got, try.want)
		}
	}
	if w.IsOne() || !(LabelWeights{Weight: new(1.0)}).IsOne() || !(LabelWeights{}).IsOne() {
		t.Error("only weights of 1 are one")
	}
}

func TestContradictoryWeightsAreRefusedByField(t *testing.T) {
	for field, try := range map[string]struct {
		LabelWeights
		sampled bool
	}{
		"w.iterations[1]":   {LabelWeights{Iterations: []IterationWeight{{1, 0.5}, {1, 0.6}}}, false},
		"w.betas[0]":        {LabelWeights{Betas: []BetaWeight{{0.6, 0.5, 1}}}, false},
		"w.weight":          {LabelWeights{Weight: new(1.5)}, true},
		"w.betas[0].weight": {LabelWeights{Betas: []BetaWeight{{0, 0.5, 2}}}, true},
	} {
		var e *Error
		if err := try.Check("w", try.sampled); !errors.As(err, &e) || e.Field != field || e.Code != CodeInvalid {
			t.Errorf("%s: %v", field, err)
		}
	}
	if err := (&LabelWeights{Weight: new(1.5)}).Check("w", false); err != nil {
		t.Error(err)
	}
}
