package api_test

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"relabel"
	"relabel/api"
	"relabel/mixer/schedule"
)

// TestStoredPoliciesHaveTheBoundsOfRequests compares the bounds in tags of requests with those
// that a policy and a budget check when they are stored.
func TestStoredPoliciesHaveTheBoundsOfRequests(t *testing.T) {
	sound := relabel.Policy{Name: "p", BaseURL: "http://h/v1", Model: "m", Server: relabel.ServerGeneric,
		Sampling: relabel.Sampling{Temperature: 0.7, TopP: 0.9}, Limits: relabel.PolicyLimits{Concurrency: 1, TimeoutSeconds: 1},
		Price: &relabel.Price{Currency: "USD"}, Replicas: []string{"http://i/v1"}}
	parts := map[string]struct {
		request any
		of      func(*relabel.Policy) any
	}{
		"sampling": {api.NewSampling{}, func(p *relabel.Policy) any { return &p.Sampling }},
		"limits":   {api.NewLimits{}, func(p *relabel.Policy) any { return &p.Limits }},
		"price":    {api.NewPrice{}, func(p *relabel.Policy) any { return p.Price }},
	}
	for part, c := range parts {
		for _, f := range api.Fields(c.request) {
			sameBounds(t, part+"."+f.Name, f, func(x float64) error {
				p := sound
				price := *sound.Price
				p.Price = &price
				set(c.of(&p), f.Name, x)
				return p.Validate()
			})
		}
	}
	for _, f := range api.Fields(relabel.Budget{}) {
		sameBounds(t, "budget."+f.Name, f, func(x float64) error {
			b := relabel.Budget{}
			set(&b, f.Name, x)
			return b.Validate()
		})
	}
}

// TestTheLongestRunIsThatOfASchedule compares the bound of turns with that of schedules.
func TestTheLongestRunIsThatOfASchedule(t *testing.T) {
	if f := api.FieldOf(api.NewRunLimits{}, "max_turns"); f.Max != strconv.Itoa(schedule.MaxTurns) {
		t.Errorf("at most %s turns, and %d in a schedule", f.Max, schedule.MaxTurns)
	}
}

// TestDefaultsOfLimitsAreThePapers compares the documented defaults with those that apply.
func TestDefaultsOfLimitsAreThePapers(t *testing.T) {
	paper := reflect.ValueOf(relabel.PaperLimits)
	for _, f := range api.Fields(api.NewRunLimits{}) {
		value := paper.FieldByIndex(api.FieldOf(relabel.PaperLimits, f.Name).Index).Int()
		if want := fmt.Sprintf("Default %d.", value); !strings.HasSuffix(f.Doc, want) {
			t.Errorf("%s: %q, want %q at its end", f.Name, f.Doc, want)
		}
	}
}

// sameBounds checks a number at and beyond its bounds with validate, whose errors name the field.
func sameBounds(t *testing.T, name string, f api.Field, validate func(float64) error) {
	t.Helper()
	if f.Min+f.Above+f.Max == "" {
		return
	}
	check := func(x float64, valid bool) {
		t.Helper()
		err := validate(x)
		e, _ := err.(*relabel.Error)
		if valid != (err == nil) || !valid && e.Field != name {
			t.Errorf("%s = %v: %v, valid by its tags: %v", name, x, err, valid)
		}
	}
	step := 1.0
	if kind := f.Type.String(); strings.HasSuffix(kind, "float64") {
		step = 1e-6
	}
	if low, err := strconv.ParseFloat(f.Min, 64); err == nil {
		check(low, true)
		check(low-step, false)
	}
	if low, err := strconv.ParseFloat(f.Above, 64); err == nil {
		check(low, false)
		check(low+step, true)
	}
	if high, err := strconv.ParseFloat(f.Max, 64); err == nil {
		check(high, true)
		check(high+math.Max(step, high*1e-9), false)
	}
}

// set sets the field with a JSON name of the struct that at points to.
func set(at any, name string, x float64) {
	to := reflect.ValueOf(at).Elem().FieldByIndex(api.FieldOf(at, name).Index)
	if to.CanInt() {
		to.SetInt(int64(math.Round(x)))
		return
	}
	to.SetFloat(x)
}
