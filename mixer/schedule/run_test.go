package schedule_test

import (
	"testing"

	"relabel"
	"relabel/mixer/schedule"
)

func TestAParameterOfAnotherKindIsRefused(t *testing.T) {
	for _, c := range []struct {
		run   relabel.Run
		field string
	}{
		{relabel.Run{Beta: &relabel.BetaSchedule{Kind: schedule.Linear, Start: 1, Decay: 0.2}}, "beta.decay"},
		{relabel.Run{Beta: &relabel.BetaSchedule{Kind: schedule.Exponential, Start: 1, Decay: 0.2, Step: 0.1}}, "beta.step"},
		{relabel.Run{Beta: &relabel.BetaSchedule{Kind: schedule.Constant, Start: 1, Floor: 0.2}}, "beta.floor"},
		{relabel.Run{Beta: &relabel.BetaSchedule{Kind: schedule.Linear}}, "beta.start"},
		{relabel.Run{Beta: &relabel.BetaSchedule{Kind: schedule.Exponential, Decay: 0.5}}, "beta.start"},
		{relabel.Run{Rho: &relabel.RhoSchedule{Kind: schedule.Uniform}}, "rho.max"},
		{relabel.Run{Rho: &relabel.RhoSchedule{Kind: schedule.Shifting}}, "rho.max"},
		{relabel.Run{Beta: &relabel.BetaSchedule{Kind: schedule.List, Values: []float64{1}, Start: 1}}, "beta.start"},
		{relabel.Run{Rho: &relabel.RhoSchedule{Kind: schedule.Uniform, Max: 3, Values: []int{1}}}, "rho.values"},
		{relabel.Run{Rho: &relabel.RhoSchedule{Kind: schedule.List, Max: 3, Values: []int{1}}}, "rho.max"},
	} {
		wantField(t, schedule.CheckParameters(c.run), c.field)
	}
	for _, sound := range []relabel.Run{
		{},
		{Beta: &relabel.PaperBeta},
		{Rho: &relabel.PaperRho},
		{Beta: &relabel.BetaSchedule{Kind: schedule.Constant, Start: 0.5}},
		{Rho: &relabel.RhoSchedule{Kind: schedule.Constant, Max: 4}},
		{Beta: &relabel.BetaSchedule{Kind: schedule.List, Values: []float64{1}}},
		{Rho: &relabel.RhoSchedule{Kind: schedule.List, Values: []int{1}}},
		{Beta: &relabel.BetaSchedule{Kind: schedule.Exponential, Start: 1, Decay: 0.5, Floor: 0.1}},
	} {
		if err := schedule.CheckParameters(sound); err != nil {
			t.Errorf("%+v: %v", sound, err)
		}
	}
}
