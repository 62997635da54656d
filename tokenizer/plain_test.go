package tokenizer

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// someConversation is a text as a chat template makes it: special tokens of the template,
// and between them what people and models wrote, which may hold the text of special tokens.
type someConversation struct {
	text  string
	plain []Span
	parts []string // what stands between the template's own special tokens
	marks []int32  // those tokens, one after each part but the last
}

func conversation(r *rand.Rand, special, contents []string, tk *Tokenizer) someConversation {
	var c someConversation
	part := ""
	for range 1 + r.IntN(6) {
		mark := special[r.IntN(len(special))]
		id, _ := tk.ID(mark)
		c.text += mark
		c.parts, c.marks, part = append(c.parts, part), append(c.marks, id), ""
		header := []string{"user\n", "assistant\n\n", "", " ", "\n"}[r.IntN(5)]
		content := contents[r.IntN(len(contents))]
		if r.IntN(2) == 0 {
			content += special[r.IntN(len(special))] + contents[r.IntN(len(contents))]
		}
		c.plain = append(c.plain, Span{len(c.text) + len(header), len(c.text) + len(header) + len(content)})
		c.text += header + content
		part += header + content
	}
	c.parts = append(c.parts, part)
	return c
}

// TestSpecialTextInPlainSpansIsPlain compares with the reference where special tokens
// are not looked for, part by part.
func TestSpecialTextInPlainSpansIsPlain(t *testing.T) {
	ref := startReference(t)
	for _, name := range []string{"qwen3", "llama3_1", "deepseek_v3", "mistral_nemo", "gemma3"} {
		t.Run(name, func(t *testing.T) {
			tk := open(t, tokenizerFile(t, name))
			ref.open(tokenizerFile(t, name))
			if err := ref.ask(map[string]any{"ordinary": true}, new([]int)); err != nil {
				t.Fatal(err)
			}
			var special []string
			for _, a := range tk.Special() {
				if !a.Normalized { // of the others the reference has none
					special = append(special, a.Content)
				}
			}
			r := rand.New(rand.NewPCG(11, 12))
			contents := fuzzedTexts(tk, 400)
			all := make([]someConversation, 300)
			for i := range all {
				all[i] = conversation(r, special, contents, tk)
			}
			for _, c := range drawnNow(t, all, 5) {
				var want []int32
				for i, part := range ref.encode(c.parts) {
					want = append(want, part.ids...)
					if i < len(c.marks) {
						want = append(want, c.marks[i])
					}
				}
				if got := tk.Encode(nil, c.text, c.plain...); !slices.Equal(got, want) {
					t.Logf("in %q", c.text)
					firstDifference(t, tk, got, want)
				}
			}
		})
	}
}

func TestPlainSpansHideOnlySpecialTokens(t *testing.T) {
	tk := open(t, "testdata/small/tokenizer.json")
	const end, tool = 257, 258
	bytes := func(s string) (ids []int32) {
		for _, b := range []byte(s) {
			ids = append(ids, int32(b))
		}
		return ids
	}
	for _, c := range []struct {
		text  string
		plain []Span
		want  []int32
	}{
		{"x<|end|>y", nil, slices.Concat(bytes("x"), []int32{end}, bytes("y"))},
		{"x<|end|>y", []Span{{0, 9}}, bytes("x<|end|>y")},
		{"x<|end|>y", []Span{{7, 8}}, bytes("x<|end|>y")}, // one byte of it is enough
		{"x<|end|>y", []Span{{0, 1}, {8, 9}}, slices.Concat(bytes("x"), []int32{end}, bytes("y"))},
		{"x<|end|>y", []Span{{3, 3}}, slices.Concat(bytes("x"), []int32{end}, bytes("y"))},
		{"<tool><|end|><|end|>", []Span{{0, 13}}, slices.Concat([]int32{tool}, bytes("<|end|>"), []int32{end})},
		{"\xff<|end|>\xff<|end|>", []Span{{9, 16}}, slices.Concat(bytes("\ufffd"), []int32{end}, bytes("\ufffd<|end|>"))},
		{"\ufffd<|end|>\xff<|end|>", []Span{{3, 11}}, slices.Concat(bytes("\ufffd<|end|>\ufffd"), []int32{end})},
	} {
		if got := tk.Encode(nil, c.text, c.plain...); !slices.Equal(got, c.want) {
			t.Errorf("%q with %v plain: %v, want %v", c.text, c.plain, got, c.want)
		}
	}
}

// TestPlainSpansHoldWhereNormalizingMovesThem has special tokens that are looked for in
// normalized text, which is shorter or longer than what the spans are of.
func TestPlainSpansHoldWhereNormalizingMovesThem(t *testing.T) {
	for name, steps := range map[string][]object{ // Prepend would be put before the token too, so that no text has it
		"composed":   {{"type": "NFC"}},
		"decomposed": {{"type": "NFKD"}},
		"moved":      {{"type": "Replace", "pattern": object{"String": " "}, "content": "▁▁"}, {"type": "NFC"}, {"type": "Strip", "strip_left": true, "strip_right": true}},
	} {
		_, data := writeVariant(t, func(file, _ object) {
			file["normalizer"] = inTurn("normalizers", steps...)
			file["added_tokens"] = []object{added("<|end|>", "special", "normalized")}
		})
		tk, err := Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		id, _ := tk.ID("<|end|>")
		padding := strings.Repeat("e\u0301é ﬁ", 5)
		text := padding + "<|end|>" + padding + "<|end|>" + padding
		first, second := len(padding), 2*len(padding)+len("<|end|>")
		for _, c := range []struct {
			plain []Span
			want  int
		}{
			{nil, 2},
			{[]Span{{0, first}}, 2},
			{[]Span{{0, first + 1}}, 1},
			{[]Span{{first + 6, first + 7}}, 1},
			{[]Span{{first + 7, second}}, 2},
			{[]Span{{first + 7, second + 1}}, 1},
			{[]Span{{first, first + 2}, {second + 5, len(text)}}, 0},
		} {
			got := 0
			for _, i := range tk.Encode(nil, text, c.plain...) {
				if i == id {
					got++
				}
			}
			if got != c.want {
				t.Errorf("%s: %d special tokens are seen with %v plain, want %d", name, got, c.plain, c.want)
			}
		}
	}
}
