package schedule

import (
	"math"
	"reflect"
	"strconv"

	"relabel"
	"relabel/api"
)

// The kinds of β schedule.
const (
	Linear      = "linear"
	Exponential = "exponential"
	Constant    = "constant"
	List        = "list"
)

// Beta returns βi, the chance that the teacher executes a turn of iteration i (eq. 8):
//
//	linear       max(floor, start − step·(i−1))
//	exponential  max(floor, start·decay^(i−1))
//	constant     start
//	list         values[i]; after the end of the list its last value
//
// Computed values are rounded to twelve decimals, so that 1 − 2·0.2 is 0.6 on every machine. Errors
// are CodeInvalid and name the field.
func Beta(s relabel.BetaSchedule, i int) (float64, error) {
	if err := ValidateBeta(s); err != nil {
		return 0, err
	}
	if i < 1 {
		return 0, relabel.Errorf(relabel.CodeInvalid, "is %d; iterations count from 1", i).On("number")
	}
	past := float64(i - 1)
	switch s.Kind {
	case Linear:
		return max(s.Floor, round(s.Start-s.Step*past)), nil
	case Exponential:
		return max(s.Floor, round(s.Start*math.Pow(s.Decay, past))), nil
	case Constant:
		return s.Start, nil
	}
	return s.Values[min(i, len(s.Values))-1], nil
}

func round(x float64) float64 { return math.Round(x*1e12) / 1e12 }

// ValidateBeta checks a β schedule. Errors are CodeInvalid and name the field, such as
// beta.floor.
func ValidateBeta(s relabel.BetaSchedule) error {
	if err := api.Validate(s, s, "beta"); err != nil {
		return err
	}
	share := api.FieldOf(s, "start")
	for k, v := range s.Values {
		if err := share.Check(reflect.ValueOf(v), "beta.values["+strconv.Itoa(k)+"]"); err != nil {
			return err
		}
	}
	switch s.Kind {
	case Linear, Exponential:
		if s.Floor > s.Start {
			return relabel.Errorf(relabel.CodeInvalid, "is above start").On("beta.floor")
		}
	case List:
		if len(s.Values) == 0 {
			return relabel.Errorf(relabel.CodeInvalid, "is empty; a list needs at least one value").On("beta.values")
		}
	}
	if s.Kind == Exponential && s.Decay == 0 {
		return relabel.Errorf(relabel.CodeInvalid, "is 0; an exponential schedule needs a factor above 0").On("beta.decay")
	}
	return nil
}
