package main

import (
	"relabel"
)

// arm is one way to choose who acts.
type arm struct {
	Name, Words string
	// Beta is βi of the rounds from the first one; the last value applies to all later ones. nil: the
	// student acts first, for κ ~ Unif{0..4i} turns.
	Beta []float64
}

// base is the arm of the first round, which all others share.
var base = arm{"base", "the teacher acts", []float64{1}}

var arms = []arm{
	{"sft", "SFT: the teacher acts", []float64{1}},
	{"low", "DAgger, β = 1, 0.6, 0.2, 0.2", []float64{1, 0.6, 0.2, 0.2}},
	{"paper", "DAgger, β = 1, 0.8, 0.6, 0.6", []float64{1, 0.8, 0.6, 0.6}},
	{"aggrevate", "AggreVaTe, κ ~ Unif{0..4i}", nil},
}

// armOf is the arm of a name.
func armOf(name string) arm {
	for _, a := range arms {
		if a.Name == name {
			return a
		}
	}
	return base
}

// schedule is the recipe of a round, from 1, with its β or ρ.
func (a arm) schedule(round int) (recipe relabel.Recipe, beta *relabel.BetaSchedule, rho *relabel.RhoSchedule) {
	if a.Beta == nil {
		return relabel.AggreVaTe, nil, &relabel.RhoSchedule{Kind: "uniform", Max: 4 * round}
	}
	b := a.Beta[min(round, len(a.Beta))-1]
	if b == 1 {
		return relabel.SFT, nil, nil
	}
	return relabel.DAgger, &relabel.BetaSchedule{Kind: "constant", Start: b}, nil
}

// The number of turns of a trajectory that is expected where the teacher alone acts, and where the
// student acts too, in tenths. A round draws tasks for them, and more if they give too few labels.
const (
	turnsOfTeacher = 59
	turnsOfMixture = 90
)

// expected is how many trajectories give a number of labels.
func (a arm) expected(round, labels int) int {
	recipe, _, _ := a.schedule(round)
	turns := turnsOfMixture
	if recipe == relabel.SFT {
		turns = turnsOfTeacher
	}
	return labels*10/turns + 1
}
