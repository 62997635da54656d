// Package tokenizer turns text into the ids that a model was trained on, and back: byte-level
// BPE as a tokenizer.json describes it. It gives the ids that Hugging Face's tokenizers
// library gives for encode(text, add_special_tokens=False), or refuses the file: whatever
// component, option or pattern is not known here is named, never guessed, because a wrong
// id in a data set is seen by nobody.
//
// A text goes through these steps, as in the reference:
//
//  1. Added tokens that are not normalized are found in the text (added.go).
//  2. What is between them is normalized (normalizer.go), and added tokens that are
//     normalized are found in that.
//  3. What is left is split into words (stage.go), by patterns that have a scanner of
//     their own (scan_*.go) or go through the matcher (pattern_*.go).
//  4. Each word is merged, the lowest rank first (merge.go), or taken from a cache.
package tokenizer
