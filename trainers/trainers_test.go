package trainers_test

import (
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/trainers"
)

func TestATrainerDeterminesViewsAndForm(t *testing.T) {
	linear, messages := relabel.ViewLinear, relabel.ViewMessages
	for _, c := range []struct {
		name  string
		views []relabel.View
		want  []relabel.View
		bare  bool
		form  relabel.Dialect
	}{
		{"axolotl", nil, []relabel.View{linear}, true, ""},
		{"axolotl", []relabel.View{messages}, []relabel.View{messages, linear}, true, ""},
		{"trl", nil, []relabel.View{linear}, false, ""},
		{"trl", []relabel.View{relabel.ViewPacked}, []relabel.View{relabel.ViewPacked}, false, ""},
		{"trl", []relabel.View{linear, relabel.ViewPromptCompletion}, []relabel.View{linear, relabel.ViewPromptCompletion}, false, relabel.DialectMessages},
		{"openrlhf", []relabel.View{linear}, []relabel.View{linear, relabel.ViewPromptCompletion}, false, relabel.DialectText},
		{"llama-factory", nil, []relabel.View{relabel.ViewArrow}, false, ""},
		{"openai", nil, []relabel.View{relabel.ViewChat}, false, relabel.DialectWeight},
	} {
		f, err := trainers.Resolve(relabel.ExportForm{For: c.name, Views: c.views})
		if err != nil {
			t.Errorf("%s %v: %v", c.name, c.views, err)
			continue
		}
		if !slices.Equal(f.Views, c.want) || f.Bare != c.bare || f.Dialect != c.form {
			t.Errorf("%s %v: %+v", c.name, c.views, f)
		}
		if again, err := trainers.Resolve(f); err != nil || !slices.Equal(again.Views, f.Views) {
			t.Errorf("%s: resolved again: %+v, %v", c.name, again, err)
		}
	}
}

func TestARefusalNamesTheFieldAndTheReason(t *testing.T) {
	for _, c := range []struct {
		form          relabel.ExportForm
		field, reason string
	}{
		{relabel.ExportForm{For: "torchtitan"}, "for", "takes one message of the user"},
		{relabel.ExportForm{For: "torchtitan"}, "for", "one message of the user"},
		{relabel.ExportForm{For: "nanogpt"}, "for", "choose trl, prime-rl, verl"},
		{relabel.ExportForm{Views: []relabel.View{relabel.ViewChat}}, "for", "ms-swift"},
		{relabel.ExportForm{For: "axolotl", Views: []relabel.View{relabel.ViewTree}}, "views", "axolotl does not read the view tree: it reads linear"},
		{relabel.ExportForm{For: "trl", Views: []relabel.View{relabel.ViewPacked, relabel.ViewPromptCompletion}}, "views", "an export has one of them"},
		{relabel.ExportForm{For: "verl", Bare: true}, "bare", "does not read bare rows"},
	} {
		_, err := trainers.Resolve(c.form)
		if e, is := err.(*relabel.Error); !is || e.Code != relabel.CodeInvalid || e.Field != c.field || !strings.Contains(e.Message, c.reason) {
			t.Errorf("%+v: %v", c.form, err)
		}
	}
}

func TestWeightsThatATrainerWouldIgnoreAreRefused(t *testing.T) {
	perTransition := relabel.PerTransition
	for _, c := range []struct {
		name    string
		recipe  relabel.Recipe
		norm    relabel.Normalisation
		others  string
		refused bool
	}{
		{"axolotl", relabel.DAgger, relabel.PerToken, "", false},
		{"axolotl", relabel.DAgger, perTransition, "", true},
		{"axolotl", relabel.DAgger, relabel.PerToken, "a label rule gives weights", true},
		{"skyrl", relabel.GRPO, relabel.PerToken, "", true},
		{"verl", relabel.DAgger, perTransition, "", false},
		{"verl", relabel.OPD, relabel.PerToken, "", true},
		{"ms-swift", relabel.DAgger, perTransition, "", false},
		{"trl", relabel.GRPO, relabel.PerToken, "", false},
	} {
		f, err := trainers.Resolve(relabel.ExportForm{For: c.name, Normalisation: c.norm})
		if err != nil {
			t.Fatal(err)
		}
		err = trainers.CheckWeights(f, c.recipe, c.others)
		if e, is := err.(*relabel.Error); is != c.refused || is && e.Field != "for" {
			t.Errorf("%s of %s with %s: %v", c.name, c.recipe, c.norm, err)
		}
	}
}

// TestWhatLoadersDoWithRows: exports are refused by these facts, which were found by running or reading the loaders.
func TestWhatLoadersDoWithRows(t *testing.T) {
	want := map[string]string{
		"trl linear": "signed weights", "trl packed": "signed weights", "verl linear": "weights", "tinker linear": "weights", "ms-swift chat": "weights eos bos", "openrlhf prompt_completion": "eos",
	}
	for _, trainer := range trainers.All() {
		for _, r := range trainer.Routes {
			var does []string
			for _, fact := range []struct {
				is   bool
				word string
			}{{r.Signed, "signed"}, {r.Weights, "weights"}, {r.EndsWithEOS, "eos"}, {r.AddsBOS, "bos"}} {
				if fact.is {
					does = append(does, fact.word)
				}
			}
			name := trainer.Name + " " + string(r.View)
			if got := strings.Join(does, " "); got != want[name] {
				t.Errorf("%s: %q, want %q", name, got, want[name])
			}
		}
	}
}
