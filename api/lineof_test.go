package api

import (
	"reflect"
	"strings"
	"testing"
)

const mixText = `{
  "weights": {"age_decay": 0.5},
  "sources": [
    {"run": "a"},
    {"run": "b", "weights": {
      "betas": [{"max": 1, "weight": "2"}]}}
  ]
}`

func TestLinesOfFieldsAreFound(t *testing.T) {
	for path, want := range map[string]int{
		"weights.age_decay":                    2,
		"sources[0]":                           4,
		"sources[0].weights.weight":            4, // it has none
		"sources[1].run":                       5,
		"sources[1].weights.betas[0].weight":   6,
		"sources[1].weights.betas[1].weight":   6,
		"sources[10].weights.betas[0].weight":  3,
		"labels_per_task":                      1,
		"source":                               1,
		"sources[1].weights.weight_of_another": 5,
	} {
		if got := LineOf([]byte(mixText), path); got != want {
			t.Errorf("%s is in line %d, want %d", path, got, want)
		}
	}
	if got := PathAt([]byte(mixText), strings.Index(mixText, `"2"`)+3); got != "sources[1].weights.betas[0].weight" {
		t.Error(got)
	}
}

func TestUnknownFieldsAreNamedWithTheirPlace(t *testing.T) {
	of := reflect.TypeFor[NewMix]()
	for path, text := range map[string]string{
		"weight":                             `{"weight": 1}`,
		"sources[1].wieghts":                 `{"sources": [{"run": "a", "aggregated": true}, {"wieghts": {}}]}`,
		"sources[0].weights.betas[0].weigth": `{"sources": [{"weights": {"betas": [{"weigth": 1}]}}]}`,
		"":                                   mixText,
	} {
		if got, known := UnknownField([]byte(text), of); got != path || (path == "") != (known == nil) {
			t.Errorf("%q, known %v, want %q", got, known, path)
		}
	}
	if got, _ := UnknownField([]byte(`["weight"]`), of); got != "" {
		t.Errorf("a list has no field %q", got)
	}
}
