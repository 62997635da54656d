package tree

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"relabel"
)

// recurrentNames are words with which model configurations name layers that carry state from
// token to token regardless of the attention mask.
var recurrentNames = regexp.MustCompile(`mamba|ssm|rwkv|recurrent|gated_?delta|delta_?net|linear_attention|lightning|xlstm|retnet|hyena|^conv$|short_?conv`)

// recurrentModels are transformers model types with such layers whose configuration contains
// none of recurrentNames.
var recurrentModels = []string{"bamba", "falcon_h1", "granitemoehybrid", "jamba", "kimi_linear", "lfm2", "lfm2_moe", "lfm2_vl", "minimax", "nemotron_h", "plamo2", "qwen3_5", "qwen3_5_moe", "qwen3_next", "zamba", "zamba2"}

// CheckModel returns CodeInvalid if a model's config.json (transformers) has recurrent
// layers: Mamba, GatedDeltaNet etc. would carry one branch's tokens into the next, so tree
// rows are unusable. Such models train on linear or packed rows, one sequence at a time.
func CheckModel(config []byte) error {
	var c any
	if err := json.Unmarshal(config, &c); err != nil {
		return relabel.Errorf(relabel.CodeInvalid, "the student's config.json is not valid JSON").On("tokenizer").Because(err)
	}
	if name := recurrent(c); name != "" {
		return relabel.Errorf(relabel.CodeInvalid, "the student has recurrent layers (%s), whose state would carry over between branches: export linear or packed instead of tree", name).On("views")
	}
	return nil
}

// recurrent returns the word that identifies a recurrent configuration, or "". It checks
// model types, architectures and layer types, including nested parts such as text_config.
func recurrent(config any) string {
	object, ok := config.(map[string]any)
	if !ok {
		return ""
	}
	for _, key := range []string{"model_type", "architectures", "layer_types", "layers_block_type", "block_types"} {
		for _, word := range words(object[key]) {
			if lower := strings.ToLower(word); slices.Contains(recurrentModels, strings.TrimSuffix(lower, "_text")) || recurrentNames.MatchString(lower) {
				return word
			}
		}
	}
	for _, key := range []string{"text_config", "llm_config", "language_config", "thinker_config"} {
		if word := recurrent(object[key]); word != "" {
			return word
		}
	}
	return ""
}

// words returns a string, or the strings of a list.
func words(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, e := range v {
			out = append(out, words(e)...)
		}
		return out
	}
	return nil
}
