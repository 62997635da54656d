package shard

import (
	"slices"
	"strings"
	"testing"

	"relabel"
)

// Exports of the student's own actions consist of samples, and have actions that failed.
func TestTheReadmeSaysWhichLabelsAreExcluded(t *testing.T) {
	const (
		teachers = "A label is excluded if it is missing, truncated by the length limit, a refusal,"
		samples  = "evaluations, samples and abandoned attempts are never exported"
		own      = "evaluations and abandoned attempts are never exported"
		failed   = "Actions that failed (a refusal, no call, a call of an unknown tool or with\nmalformed arguments) are exported too"
		scored   = "or if\nteacher or student did not score it"
	)
	all := []string{teachers, samples, own, failed, scored}
	for recipe, want := range map[relabel.Recipe][]string{
		relabel.DAgger: {teachers, samples}, relabel.OPD: {own, failed, scored}, relabel.GRPO: {own, failed},
	} {
		m := relabel.Manifest{Recipe: recipe, Views: []relabel.View{relabel.ViewLinear}, Advantage: &relabel.ManifestAdvantage{}}
		var text strings.Builder
		if err := writeReadme(&text, relabel.Run{Recipe: recipe}, relabel.Export{}, summary{}, m); err != nil {
			t.Fatal(err)
		}
		for _, sentence := range all {
			if strings.Contains(text.String(), sentence) != slices.Contains(want, sentence) {
				t.Errorf("%s: %q is wrongly there or missing in\n%s", recipe, sentence, text.String())
			}
		}
	}
}

// The trainer's part of a preset is what a run cannot apply: an export tells the trainer.
func TestTheReadmeOfAPresetHasTheTrainersConfiguration(t *testing.T) {
	readme := func(preset string, aggregated bool) string {
		run := relabel.Run{Name: "r", Recipe: relabel.SFT}
		if preset != "" {
			p, err := relabel.FindPreset(preset)
			if err == nil {
				run.Recipe = p.Recipe
				run, err = p.Fill(run, 2338)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		m := relabel.Manifest{Recipe: run.Recipe, Views: []relabel.View{relabel.ViewMessages}}
		if run.Recipe == relabel.GRPO {
			m.Advantage = &relabel.ManifestAdvantage{DDoF: 1, Epsilon: 1e-6}
		}
		m.Selection.Aggregated, m.Trajectories.Count = aggregated, 7
		var text strings.Builder
		if err := writeReadme(&text, run, relabel.Export{}, summary{}, m); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	const online = "| data | fresh: this round's own data, from the last round's student |\n| epochs | 3 |\n| batch | 16 trajectories; this export has 7 |\n| learning rate | constant 3e-6 |\n| warm-up | none |\n"
	for preset, want := range map[string]string{
		"dagger-paper": online, "aggrevate-paper": online, "opd-paper": online,
		"sft-paper":  "| epochs | 3 |\n| batch | 16 trajectories; this export has 7 |\n| learning rate | cosine, 1e-5 → 1e-6 |\n| warm-up | 0.1 of the steps |\n",
		"grpo-paper": "| batch | 32 trajectories; this export has 7 |\n| learning rate | constant 1e-6 |\n| warm-up | none |\n",
	} {
		if text := readme(preset, false); !strings.Contains(text, want) || !strings.Contains(text, "preset "+preset+":") || strings.Contains(text, "is aggregated") {
			t.Errorf("%s: no %q in\n%s", preset, want, text)
		}
	}
	if text := readme("dagger-paper", true); !strings.Contains(text, "**this export is aggregated** over") {
		t.Errorf("an aggregated export does not say so:\n%s", text)
	}
	if text := readme("", false); strings.Contains(text, "Training configuration") {
		t.Errorf("a run without a preset has a configuration:\n%s", text)
	}
}
