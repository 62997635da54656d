package shard

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel/e2e/e2etest"
)

// trapTest is a program that shows what a trainer does without an error.
type trapTest struct {
	program, requirements string
	tokenizers            []string // of its models
	shows                 []string
}

var smallTraps = []trapTest{{"trl_traps.py", "", []string{"qwen3"}, []string{
	"TRL cuts rows at 1024 tokens by default",
	"TRL drops rows without a label before token 1024",
	"TRL only warns of a prompt that does not begin the whole, and trains on a part of the label",
}}}

var largeTraps = []trapTest{
	{"axolotl_traps.py", "axolotl.txt", []string{"qwen3"}, []string{
		"axolotl drops rows over sequence_len",
		"axolotl trains on the history of messages without flags",
	}},
	{"ms_swift_traps.py", "ms-swift.txt", []string{"qwen3", "llama3_1"}, []string{
		"ms-swift loses reasoning_content",
		"ms-swift trains on the history without flags",
		"ms-swift takes every weight above 0 for 1",
		"ms-swift deletes rows over max_length",
		"ms-swift puts bos_token in front of rows of token ids",
	}},
	{"llama_factory_traps.py", "llama-factory.txt", []string{"qwen3"}, []string{
		"LLaMA-Factory loses the text and the reasoning of a message with calls",
		"LLaMA-Factory trains on the history without mask_history",
		"LLaMA-Factory cuts rows over cutoff_len, 2048 by default",
	}},
	{"openrlhf_traps.py", "openrlhf.txt", []string{"qwen3"}, []string{
		"OpenRLHF cuts rows over max_len and overwrites the last id",
		"OpenRLHF drops rows whose prompt has max_len - 2 tokens or more",
		"OpenRLHF never passes tools to the template",
		"OpenRLHF trains on the history with multiturn",
	}},
	{"verl_traps.py", "verl.txt", []string{"qwen2_5"}, []string{
		"verl trains on the history",
		"verl cuts rows with truncation",
	}},
	{"automodel_traps.py", "automodel.txt", []string{"qwen2_5"}, []string{
		"Automodel trains on the history without mask_history",
		"Automodel turns the arguments of calls into text, which the template escapes",
	}},
	{"tinker_traps.py", "tinker.txt", []string{"qwen3"}, []string{
		"tinker-cookbook divides the weights of a row by its tokens",
		"tinker-cookbook trains on the history by default",
	}},
}

func TestWhatTRLDoesWithoutAnError(t *testing.T) {
	e2etest.Long(t)
	testTraps(t, smallTraps)
}

func TestTrainersDoWithoutAnError(t *testing.T) {
	onlyForTrainers(t)
	testTraps(t, largeTraps)
}

// testTraps runs the programs and compares what each shows.
func testTraps(all *testing.T, list []trapTest) {
	models := map[string]string{}
	for _, trap := range list {
		all.Run(trap.program, func(t *testing.T) {
			var arguments []string
			for _, tokenizer := range trap.tokenizers {
				if models[tokenizer] == "" {
					models[tokenizer] = tinyModel(all, tokenizer)
				}
				arguments = append(arguments, models[tokenizer])
			}
			said := loaderTest{program: trap.program, requirements: trap.requirements}.run(t, arguments...)
			var shown []string
			for line := range strings.Lines(said) {
				if name, is := strings.CutPrefix(strings.TrimSpace(line), "trap: "); is {
					shown = append(shown, name)
				}
			}
			if !slices.Equal(shown, trap.shows) {
				t.Errorf("%s shows %q, want %q", trap.program, shown, trap.shows)
			}
		})
	}
}

// tinyModel makes a small random model with a tokenizer, which lasts as long as the test.
func tinyModel(t *testing.T, tokenizer string) string {
	t.Helper()
	folder := filepath.Join(prepared(t, "", "../scripts/tokenizers.sh", tokenizer), tokenizer)
	model := filepath.Join(t.TempDir(), "model")
	runPrograms(t, "../examples/train", [][]string{{"tiny_model.py", folder, model}})
	return model
}
