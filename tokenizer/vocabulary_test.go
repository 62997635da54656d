package tokenizer

import (
	"encoding/json"
	"slices"
	"testing"
)

// parsed parses a variant.
func parsed(t *testing.T, change func(file, model object)) *Tokenizer {
	t.Helper()
	data, err := json.Marshal(variant(change))
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func TestVocabulariesAreTheSameIfTheyGiveATextTheSameIDs(t *testing.T) {
	t.Parallel()
	want := parsed(t, func(object, object) {}).VocabularyHash()
	for name, change := range map[string]func(file, model object){
		"other added tokens": func(file, _ object) { file["added_tokens"] = []object{added("<think>")} },
		"offsets":            func(file, _ object) { file["pre_tokenizer"].(object)["trim_offsets"] = false },
		"decoder":            func(file, _ object) { file["decoder"] = nil },
		"options left out":   func(_, model object) { delete(model, "fuse_unk"); delete(model, "byte_fallback") },
		"merges as older text": func(_, model object) {
			var lines []string
			for _, pair := range model["merges"].([][2]string) {
				lines = append(lines, pair[0]+" "+pair[1])
			}
			model["merges"] = lines
		},
	} {
		if got := parsed(t, change).VocabularyHash(); got != want {
			t.Errorf("%s: another hash", name)
		}
	}
	for name, change := range map[string]func(file, model object){
		"two ids swapped": func(_, model object) {
			v := model["vocab"].(object)
			v["a"], v["b"] = v["b"], v["a"]
		},
		"two merges swapped": func(_, model object) {
			m := model["merges"].([][2]string)
			m[0], m[1] = m[1], m[0]
		},
		"a merge less":  func(_, model object) { model["merges"] = model["merges"].([][2]string)[1:] },
		"normalizer":    func(file, _ object) { file["normalizer"] = object{"type": "NFC"} },
		"pre-tokenizer": func(file, _ object) { file["pre_tokenizer"] = byteLevel(true, true) },
		"ignore_merges": func(_, model object) { model["ignore_merges"] = true },
	} {
		if got := parsed(t, change).VocabularyHash(); got == want {
			t.Errorf("%s: the same hash", name)
		}
	}
}

func TestAForeignTokenIsAnAddedOneThatTheOtherLacks(t *testing.T) {
	t.Parallel()
	plain := parsed(t, func(object, object) {})
	thinks := parsed(t, func(file, _ object) { file["added_tokens"] = []object{added("<|end|>", "special"), added("<think>")} })
	text := slices.Clip(plain.Encode(nil, "a text"))
	end, _ := plain.ID("<|end|>")
	tool, _ := plain.ID("<tool>") // <think> of the other
	for name, c := range map[string]struct {
		ids   []int32
		found bool
	}{
		"shared tokens":          {append(text, end), false},
		"an added token differs": {append(text, tool), true},
		"an unknown id":          {append(text, 800_000), true},
		"nothing":                {nil, false},
	} {
		id, found := plain.Foreign(thinks, c.ids)
		if found != c.found || found && id != c.ids[len(c.ids)-1] {
			t.Errorf("%s: %d, %t", name, id, found)
		}
	}
}
