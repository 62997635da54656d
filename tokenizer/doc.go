// Package tokenizer turns text into the ids that a model was trained on, and back: byte-level BPE as
// a tokenizer.json describes it. Its ids equal those of Hugging Face's tokenizers library (the
// reference) for encode(text, add_special_tokens=False). It refuses files with an unsupported
// component, option or pattern, by name, because nobody would notice a wrong id in a data set.
//
// Encoding has these steps, as in the reference:
//
//  1. Added tokens that are not normalized are recognized in the text (added.go).
//  2. The text between them is normalized (normalizer.go), and normalized added tokens are
//     recognized in the result.
//  3. The rest is split into words (stage.go), by a scanner (scan_*.go) or, for patterns without
//     one, by the matcher (pattern_*.go).
//  4. Each word is merged, the lowest rank first (merge.go), or taken from a cache.
package tokenizer
