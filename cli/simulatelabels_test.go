package cli

import (
	"slices"
	"testing"

	"relabel"
	"relabel/labelrule"
)

func TestASimulationTellsAskedStatesAndErrorsApart(t *testing.T) {
	all := labelrule.Part{SimulatedLabels: relabel.SimulatedLabels{StudentStates: 15}}
	part := labelrule.Part{Rule: relabel.SimulatedRule{Unbiased: true}, SimulatedLabels: relabel.SimulatedLabels{StudentStates: 15, NotAsked: 10}}
	if got := studentStates(all.SimulatedLabels); got != "15" {
		t.Error(got)
	}
	if got := studentStates(part.SimulatedLabels); got != "5 (+10 not asked)" {
		t.Error(got)
	}
	if got := unbiasedWord(all); got != "no" {
		t.Error(got)
	}
	if got := unbiasedWord(part); got != "yes, asked states" {
		t.Error(got)
	}
	if heads, _ := labelrule.Table(relabel.LabelSimulation{}); !slices.Contains(heads, "error") || slices.Contains(heads, "bias") {
		t.Error(heads)
	}
}
