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
				run.TaskKind = p.Kind
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
		"sft-paper":           "| epochs | 3 |\n| batch | 16 trajectories; this export has 7 |\n| learning rate | cosine, 1e-5 → 1e-6 |\n| warm-up | 0.1 of the steps |\n",
		"tooltrain-sft-paper": "| epochs | 3 |\n| batch | 128 trajectories; this export has 7 |\n| learning rate | cosine, 1e-5 → 1e-6 |\n| warm-up | 0.1 of the steps |\n",
		"tooltrain-paper":     "| batch | 128 trajectories; this export has 7 |\n| learning rate | constant 1e-6 |\n| warm-up | none |\n",
		"grpo-paper":          "| batch | 32 trajectories; this export has 7 |\n| learning rate | constant 1e-6 |\n| warm-up | none |\n",
	} {
		if text := readme(preset, false); !strings.Contains(text, want) || !strings.Contains(text, "preset "+preset+":") || strings.Contains(text, "is aggregated") {
			t.Errorf("%s: no %q in\n%s", preset, want, text)
		}
	}
	if text := readme("dagger-paper", true); !strings.Contains(text, "**this export is aggregated** over") {
		t.Errorf("an aggregated export does not say so:\n%s", text)
	}
	if text := readme("tooltrain-paper", false); !strings.Contains(text, "trains as follows (ToolTrain 4.4; its learning rate is not said, and this one is ours)") {
		t.Errorf("an export of a preset of ToolTrain names another source:\n%s", text)
	}
	if text := readme("", false); strings.Contains(text, "Training configuration") {
		t.Errorf("a run without a preset has a configuration:\n%s", text)
	}
}

// Weights other than 1 rule out trainers that ignore weights.
func TestTheReadmeOffersOnlyTrainersThatKeepTheWeights(t *testing.T) {
	perToken, perTransition := relabel.PerToken, relabel.PerTransition
	rule := []relabel.ManifestRule{{Rule: "every:2", Unbiased: true}}
	for _, c := range []struct {
		what     string
		m        relabel.Manifest
		bare     bool
		weighted bool
	}{
		{"labels of weight 1", relabel.Manifest{Normalisation: &perToken}, false, false},
		{"a label rule", relabel.Manifest{Normalisation: &perToken, LabelRules: rule, Iterations: []int{1}}, false, true},
		{"weights per transition", relabel.Manifest{Normalisation: &perTransition}, false, true},
		{"bare rows", relabel.Manifest{Normalisation: &perToken}, true, false},
	} {
		c.m.Recipe, c.m.Views, c.m.Tokenizer = relabel.DAgger, []relabel.View{relabel.ViewLinear}, &relabel.ManifestTokenizer{}
		if !c.bare {
			c.m.Views = append(c.m.Views, relabel.ViewPacked)
		}
		e := relabel.Export{}
		e.Form.Bare = c.bare
		var text strings.Builder
		if err := writeReadme(&text, relabel.Run{Recipe: relabel.DAgger}, e, summary{}, c.m); err != nil {
			t.Fatal(err)
		}
		for shown, want := range map[string]bool{
			"Not possible: this export has weights other than 1, which axolotl ignores": c.weighted,
			"sample_packing: true": !c.weighted,
			"Not possible: this export has weights other than 1, which Megatron-Bridge ignores": c.weighted,
			"FinetuningDatasetConfig(": !c.weighted && !c.bare,
		} {
			if strings.Contains(text.String(), shown) != want {
				t.Errorf("%s: %q is wrongly there or missing in\n%s", c.what, shown, text.String())
			}
		}
	}
}

func TestTheShownTRLProgramHasThePresetsSettings(t *testing.T) {
	for preset, want := range map[string]string{
		"":             `"learning_rate": 1e-5, "num_train_epochs": 1, "logging_steps": 1,`,
		"dagger-paper": `"learning_rate": 3e-06, "num_train_epochs": 3, "lr_scheduler_type": "constant", "logging_steps": 1,`,
		"grpo-paper":   `"learning_rate": 1e-06, "num_train_epochs": 1, "lr_scheduler_type": "constant", "logging_steps": 1,`,
		"sft-paper":    `"lr_scheduler_type": "cosine_with_min_lr", "lr_scheduler_kwargs": {"min_lr": 1e-06}, "warmup_steps": 0.1, "logging_steps": 1,`,
	} {
		var trainer *relabel.Trainer
		if preset != "" {
			p, err := relabel.FindPreset(preset)
			if err != nil {
				t.Fatal(err)
			}
			trainer = &p.Trainer
		}
		text, err := trlProgram(trainer)
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%q: %v, no %s in\n%s", preset, err, want, text)
		}
	}
}

// Benchmarks of earlier versions may have any name.
func TestNamesOfBenchmarksAddNothingToTheReadme(t *testing.T) {
	var text strings.Builder
	m := relabel.Manifest{Views: []relabel.View{relabel.ViewMessages}}
	m.Excluded = map[string]int{"benchmark:\n# b_c": 7}
	m.Selection.AllowBenchmarks = []string{"a\n# forged [x](y)\u202e", "swe_verified"}
	if err := writeReadme(&text, relabel.Run{Recipe: relabel.DAgger}, relabel.Export{}, summary{}, m); err != nil {
		t.Fatal(err)
	}
	if said := `7 × benchmark:\# b\_c.`; !strings.Contains(text.String(), said) {
		t.Errorf("no %q in\n%s", said, text.String())
	}
	if want := `with tasks of the benchmarks and exclusion lists a \# forged \[x\](y)‹U+202E›, swe\_verified of`; !strings.Contains(text.String(), want) {
		t.Errorf("no %q in\n%.900s", want, text.String())
	}
}
