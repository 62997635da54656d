package api_test

import (
	"errors"
	"strings"
	"testing"

	"relabel"
	"relabel/api"
)

func TestFieldsTellWhatTheirTagsSay(t *testing.T) {
	fields := map[string]api.Field{}
	for _, f := range api.Fields(api.NewExport{}) {
		if f.Doc == "" {
			t.Errorf("%s is not described", f.Name)
		}
		fields[f.Name] = f
	}
	if f := fields["run"]; !f.Required || f.MaxLength != 200 || f.List() {
		t.Errorf("run: %+v", f)
	}
	if f := fields["views"]; f.Required || !f.List() || strings.Join(f.Enum, " ") != "messages linear packed tree preference arrow prompt_completion chat" {
		t.Errorf("views, of an embedded struct: %+v", f)
	}
	if f := fields["capacity"]; f.Min != "64" || f.Max != "524288" {
		t.Errorf("capacity: %+v", f)
	}
}

func TestValidateNamesTheFieldThatIsWrong(t *testing.T) {
	over := 1_000_000
	for field, wrong := range map[string]any{
		"name":             api.NewRun{},
		"recipe":           api.NewRun{Name: "a", Recipe: "none", Taskset: "t", Teacher: "p"},
		"limits.max_turns": api.NewRun{Name: "a", Recipe: relabel.DAgger, Taskset: "t", Teacher: "p", Limits: &api.NewRunLimits{MaxTurns: &over}},
		"capacity":         api.NewExport{Run: "r", ExportForm: relabel.ExportForm{Capacity: 1}},
		"views[1]":         api.NewExport{Run: "r", ExportForm: relabel.ExportForm{Views: []relabel.View{relabel.ViewTree, "forest"}}},
		"flag":             &api.NewReview{Flag: strings.Repeat("x", 61)},
		"price.currency":   api.NewPolicy{Name: "p", BaseURL: "http://x", Model: "m", Price: &api.NewPrice{Currency: "euro"}},
	} {
		var known *relabel.Error
		if err := api.Validate(wrong, wrong, ""); !errors.As(err, &known) || known.Code != relabel.CodeInvalid || known.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	sound := api.NewExport{Run: "r", LabelSelection: api.LabelSelection{Iteration: 3}}
	if err := api.Validate(sound, sound, ""); err != nil {
		t.Error(err)
	}
}
