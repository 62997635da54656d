// Package shardtest has what tests of exports need: a student whose tokenizer and template
// are small.
package shardtest

import (
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

//go:embed student.jinja
var template string

// Student writes a student's folder and returns its path: a byte-level tokenizer with few
// merges, and a template that, like Qwen3's, drops reasoning before the last user message.
func Student(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tokenizer.json"), tokenizer())
	write(t, filepath.Join(dir, "tokenizer_config.json"), map[string]any{"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "chat_template": template,
		"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": false})
	return dir
}

func write(t testing.TB, name string, v any) {
	t.Helper()
	raw, err := json.Marshal(v)
	if err == nil {
		err = os.WriteFile(name, raw, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// words are tokens of their own, each merged letter by letter.
var words = []string{"the", "and", "line", "grep", "command", "system", "assistant", "user", "tool", "name", "arguments", "return", "import"}

// tokenizer is a tokenizer.json.
func tokenizer() any {
	vocabulary := map[string]int{}
	for b, c := range byteCharacters() {
		vocabulary[string(c)] = b
	}
	var merges [][2]string
	for _, w := range words {
		for n := 2; n <= len(w); n++ {
			if _, there := vocabulary[w[:n]]; !there {
				vocabulary[w[:n]] = len(vocabulary)
				merges = append(merges, [2]string{w[:n-1], w[n-1 : n]})
			}
		}
	}
	var added []any
	for i, text := range []string{"<|im_end|>", "<|im_start|>", "<|endoftext|>", "<think>", "</think>", "<tool_call>", "</tool_call>"} {
		added = append(added, map[string]any{"id": len(vocabulary) + i, "content": text, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": i < 3})
	}
	byteLevel := func(regex bool) any {
		return map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": regex}
	}
	return map[string]any{"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": added, "normalizer": nil, "pre_tokenizer": byteLevel(true),
		"post_processor": nil, "decoder": byteLevel(false), "model": map[string]any{"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": nil,
			"end_of_word_suffix": nil, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false, "vocab": vocabulary, "merges": merges}}
}

// byteCharacters are the characters that stand for bytes in byte-level tokenizers.
func byteCharacters() (out [256]rune) {
	next := rune(256)
	for b := range out {
		switch {
		case b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xAC || b >= 0xAE:
			out[b] = rune(b)
		default:
			out[b] = next
			next++
		}
	}
	return out
}
