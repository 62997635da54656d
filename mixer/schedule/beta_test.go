package schedule_test

import (
	"errors"
	"math"
	"testing"

	"relabel"
	"relabel/mixer/schedule"
)

func TestPaperBetaFallsByAFifthToItsFloor(t *testing.T) {
	for k, want := range []float64{1.0, 0.8, 0.6, 0.6, 0.6} { // F.1, five iterations
		got, err := schedule.Beta(relabel.PaperBeta, k+1)
		if err != nil || got != want {
			t.Errorf("β%d = %v, %v; the paper's is %v", k+1, got, err, want)
		}
	}
}

func TestBetaByKind(t *testing.T) {
	exponential := relabel.BetaSchedule{Kind: schedule.Exponential, Start: 1, Decay: 0.5, Floor: 0.2}
	constant := relabel.BetaSchedule{Kind: schedule.Constant, Start: 0.3}
	list := relabel.BetaSchedule{Kind: schedule.List, Values: []float64{0.9, 0, 1}}
	for _, c := range []struct {
		s    relabel.BetaSchedule
		i    int
		want float64
	}{
		{exponential, 1, 1}, {exponential, 2, 0.5}, {exponential, 3, 0.25}, {exponential, 4, 0.2},
		{constant, 1, 0.3}, {constant, 100, 0.3},
		{list, 1, 0.9}, {list, 2, 0}, {list, 3, 1}, {list, 7, 1},
	} {
		if got, err := schedule.Beta(c.s, c.i); err != nil || got != c.want {
			t.Errorf("%s: β%d = %v, %v; want %v", c.s.Kind, c.i, got, err, c.want)
		}
	}
}

func TestBadBetaIsRefusedByField(t *testing.T) {
	for field, s := range map[string]relabel.BetaSchedule{
		"beta.kind":      {},
		"beta.start":     {Kind: schedule.Constant, Start: math.NaN()},
		"beta.step":      {Kind: schedule.Linear, Start: 1, Step: -0.1},
		"beta.floor":     {Kind: schedule.Linear, Start: 0.5, Floor: 0.6},
		"beta.decay":     {Kind: schedule.Exponential, Start: 1},
		"beta.values":    {Kind: schedule.List},
		"beta.values[1]": {Kind: schedule.List, Values: []float64{1, math.Inf(1)}},
	} {
		wantField(t, schedule.ValidateBeta(s), field)
	}
	wantField(t, schedule.ValidateBeta(relabel.BetaSchedule{Kind: schedule.Constant, Start: 1.01}), "beta.start")
	_, err := schedule.Beta(relabel.PaperBeta, 0)
	wantField(t, err, "number")
}

// wantField demands a CodeInvalid error on field.
func wantField(t *testing.T, err error, field string) {
	t.Helper()
	var e *relabel.Error
	if !errors.As(err, &e) || e.Code != relabel.CodeInvalid || e.Field != field {
		t.Errorf("error %v; want one that names %s", err, field)
	}
}
