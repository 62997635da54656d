package cli

import (
	"slices"
	"testing"

	"relabel"
)

func TestASimulationTellsAskedStatesAndErrorsApart(t *testing.T) {
	all := simulatedPart{SimulatedLabels: relabel.SimulatedLabels{StudentStates: 15}}
	part := simulatedPart{rule: relabel.SimulatedRule{Unbiased: true}, SimulatedLabels: relabel.SimulatedLabels{StudentStates: 15, NotAsked: 10}}
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
	if !slices.Contains(simulatedHeads, "error") || slices.Contains(simulatedHeads, "bias") {
		t.Error(simulatedHeads)
	}
}
