package trainers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/trainers"
)

// tokenLines are rows of ms-swift, ids those of others, both with rows of 5000 tokens.
var (
	tokenLines = trainers.Exported{View: relabel.ViewChat, Dialect: relabel.DialectLoss, Longest: 5000}
	ids        = trainers.Exported{View: relabel.ViewLinear, Longest: 5000}
)

func TestSettingsThatTrainOnHistoryOrCutRowsAreNamed(t *testing.T) {
	weighted := tokenLines
	weighted.Weighted = true
	packed := ids
	packed.View = relabel.ViewPacked
	texts := ids
	texts.View = relabel.ViewPromptCompletion
	for _, c := range []struct {
		name, text string
		of         trainers.Exported
		want       []string // settings, in order
	}{
		{"axolotl.yaml", "base_model: m\ndatasets:\n  - path: linear\n    ds_type: parquet\n    type:\nsequence_len: 5000\n", ids, nil},
		{"axolotl.yaml", "base_model: m\ndatasets:\n  - path: linear\n    type:\nsequence_len: 2048\n", ids, []string{"sequence_len: 2048"}},
		{"axolotl.yaml", "base_model: m\ndatasets:\n  - path: x\n    type: chat_template\n    roles_to_train: [assistant]\nsequence_len: 8192\n", ids, []string{"datasets[0].roles_to_train: [assistant]"}},
		{"axolotl.yaml", "base_model: m\ndatasets:\n  - path: x\n    type: chat_template\nsequence_len: 8192\ntrain_on_inputs: true\n", ids, []string{"train_on_inputs: true", "datasets[0].roles_to_train is missing"}},
		{"axolotl.yaml", "base_model: m\ndatasets:\n  - path: x\n    type: chat_template\n    roles_to_train: []\nsequence_len: 8192\n", ids, []string{"datasets[0].message_field_training is missing"}},
		{"axolotl.yaml", "base_model: m\ndatasets:\n  - path: x\n    type: chat_template\n    roles_to_train: []\n    message_field_training: train\nsequence_len: 8192\n", ids, nil},
		{"swift.sh", "swift sft --model m \\\n  --dataset x.jsonl --loss_scale default --max_length 4096\n", ids, []string{"loss_scale: default", "max_length: 4096"}},
		{"swift.sh", "NPROC_PER_NODE=2 swift sft --dataset 'x y.jsonl' --loss_scale all # --loss_scale last_round\n", tokenLines, []string{"loss_scale: all", "use_chat_template is missing or true"}},
		{"args.json", `{"dataset": ["x.jsonl"], "loss_scale": "last_round", "max_length": 8192}`, ids, nil},
		{"args.json", "{\n\t\"dataset\": [\"x.jsonl\"],\n\t\"loss_scale\": \"all\", \"max_length\": 8192}", ids, []string{"loss_scale: all"}},
		{"args.json", "{\n\t\"base_model\": \"m\", \"sequence_len\": 1048576, \"datasets\": [{\"type\": \"chat_template\", \"roles_to_train\": [\"assistant\"]}]}", ids, []string{"datasets[0].roles_to_train: [assistant]"}},
		{"swift.sh", "cd /src/trl && source axolotl/bin/activate\nswift sft --dataset x.jsonl --loss_scale all --max_length 8192\n", ids, []string{"loss_scale: all"}},
		{"swift.yaml", "dataset: [x.jsonl]\ntemplate: dummy\nuse_chat_template: false\n", tokenLines, nil},
		{"swift.yaml", "dataset: [x.jsonl]\ntemplate: dummy\nuse_chat_template: false\n", weighted, []string{"is_binary_loss_scale is missing or true"}},
		{"lf.yaml", "stage: sft\ndataset: x\n", ids, []string{"tokenized_path is missing", "mask_history is missing or false", "cutoff_len is missing"}},
		{"lf.yaml", "stage: sft\ndataset: x\ntokenized_path: arrow\n", ids, nil},
		{"trl.yaml", "dataset_name: .\ndataset_config: linear\n", ids, []string{"max_length is missing"}},
		{"trl.yaml", "dataset_name: .\nmax_length: null\n", ids, nil},
		{"trl.sh", "trl sft --dataset_name . --max_length=None", packed, []string{"padding_free is missing or false"}},
		{"trl.yaml", "dataset_name: .\nmax_length: null\ncompletion_only_loss: false\n", texts, []string{"completion_only_loss: false"}},
	} {
		_, warnings, err := trainers.CheckConfiguration(c.name, []byte(c.text), c.of)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
		var got []string
		for _, w := range warnings {
			got = append(got, w.Setting)
			if w.Would == "" || w.Instead == "" {
				t.Errorf("%+v does not say what would happen and what to write", w)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: warns of %q, want %q", c.text, got, c.want)
		}
	}
}

func TestOtherFilesAreNoConfiguration(t *testing.T) {
	for _, text := range []string{"", "hello", "a: 1\n", "#!/bin/sh\necho hello\n"} {
		_, _, err := trainers.CheckConfiguration("x", []byte(text), ids)
		if relabel.CodeOf(err) != relabel.CodeInvalid {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestWrittenConfigurationsHaveNoWarning: what an export writes must not be what verify warns of.
func TestWrittenConfigurationsHaveNoWarning(t *testing.T) {
	for _, trainer := range trainers.All() {
		for _, route := range trainer.Routes {
			for _, weighted := range []bool{false, route.Weights} {
				facts := trainers.Facts{View: route.View, Capacity: 8192, MaxLength: 5000, Files: []string{"a/00000", "a/00001"}, Weighted: weighted, LearningRate: 1e-5, Epochs: 3}
				files, err := route.Configuration(facts, func(string) (string, error) { return "program", nil })
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range files {
					whose, warnings, err := trainers.CheckConfiguration(f.Name, []byte(f.Text), trainers.Exported{View: route.View, Dialect: route.Dialect, Longest: 5000, Weighted: weighted})
					if err == nil && whose != trainer.Name {
						t.Errorf("%s is taken for one of %s", f.Name, whose)
					}
					for _, w := range warnings {
						t.Errorf("%s: %s", f.Name, w)
					}
					if strings.Contains(f.Text, "<no value>") || strings.Contains(f.Text, "{{") {
						t.Errorf("%s is not filled in:\n%s", f.Name, f.Text)
					}
				}
			}
		}
	}
}

// TestOptionsOfTheTemplateAreWrittenAsHydraReadsThem: Hydra refuses keys in quotes.
func TestOptionsOfTheTemplateAreWrittenAsHydraReadsThem(t *testing.T) {
	f, err := trainers.Resolve(relabel.ExportForm{For: "nemo-rl"})
	if err != nil {
		t.Fatal(err)
	}
	route, _ := trainers.RouteOf(f)
	for options, want := range map[string]string{
		`{"enable_thinking":false}`:               `'policy.tokenizer.chat_template_kwargs={enable_thinking:false}' data.`,
		`{"b":[1.50,null],"a":"it's \"so\", ok"}`: `'policy.tokenizer.chat_template_kwargs={a:"it'\''s \"so\", ok",b:[1.50,null]}' data.`,
		``: "",
	} {
		files, err := route.Configuration(trainers.Facts{View: route.View, Files: []string{"chat/00000.jsonl"}, Options: []byte(options)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if options == "" {
			if strings.Contains(files[0].Text, "chat_template_kwargs") {
				t.Errorf("%s", files[0].Text)
			}
			continue
		}
		if !strings.Contains(files[0].Text, want) {
			t.Errorf("%s is not in %s", want, files[0].Text)
		}
	}
}

func TestAFileThatCannotBeCheckedSaysWhy(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	for _, c := range []struct{ name, text, want string }{
		{"axolotl.yaml", "base_model: m\ndatasets:\n  - path: [x\n", "not valid YAML: line 3"},
		{"axolotl.yaml", "base_model: m\n" + bomb, "excessive aliasing"},
		{"train.sh", "axolotl train config.yml\n", `give "config.yml"`},
		{"train.sh", "trl sft --config trl.yaml --output_dir out\n", `give "trl.yaml"`},
	} {
		_, _, err := trainers.CheckConfiguration(c.name, []byte(c.text), ids)
		if relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: %v", c.text, err)
		}
	}
}
