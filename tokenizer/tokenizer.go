package tokenizer

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// Tokenizer turns text into token ids and back. It is safe for concurrent use.
type Tokenizer struct {
	sum       string
	added     *addedTokens
	normalize normalizer // nil if text is taken as it is
	stages    []stage
	model     *model
	decoder   decoder
	definition
}

// Span is the part of a text from byte Start up to, but not including, byte End.
type Span struct{ Start, End int }

// Added is a token that is searched for in the text before it is split into words.
type Added struct {
	Content    string
	ID         int32
	Special    bool // not recognized in plain spans
	SingleWord bool // recognized only where no word character is next to it
	LStrip     bool // includes the white space before it
	RStrip     bool // includes the white space after it
	Normalized bool // normalized itself, and searched for in normalized text
}

// Parse reads the content of a tokenizer.json. It refuses, naming the JSON path, each component and
// option that it does not know.
func Parse(data []byte) (_ *Tokenizer, err error) {
	defer rescue(&err)
	whole := node{raw: data}
	whole.checkDepth()
	parts := whole.object("version", "truncation", "padding", "added_tokens", "normalizer",
		"pre_tokenizer", "post_processor", "decoder", "model")
	checkSizes(parts)
	checkFrame(parts)
	sum := sha256.Sum256(data)
	t := &Tokenizer{sum: hex.EncodeToString(sum[:]), model: parseModel(parts["model"]), normalize: parseNormalizer(parts["normalizer"])}
	if growth(t.normalize) > mostGrowth {
		panic(parts["normalizer"].refuse("replaces a character by more than %d bytes", mostGrowth))
	}
	t.stages = t.model.takeByteStage(parsePreTokenizer(parts["pre_tokenizer"]))
	t.added = parseAdded(parts["added_tokens"], t.model, t.normalize)
	t.decoder = parseDecoder(parts["decoder"])
	t.definition = define(t.model, parts)
	return t, nil
}

// checkFrame refuses values, of the parts that Encode ignores, that would affect ids.
func checkFrame(parts map[string]node) {
	if n := parts["version"]; !n.absent() && n.text() != "1.0" {
		panic(n.refuse("version %q is unknown: only 1.0 is supported", n.text()))
	}
	if n := parts["truncation"]; !n.absent() {
		panic(n.refuse("would truncate texts silently: set it to null"))
	}
	if n := parts["padding"]; !n.absent() {
		panic(n.refuse("would pad texts silently: set it to null"))
	}
	checkPostProcessor(parts["post_processor"])
}

// SHA256 returns the hash of the tokenizer.json, in hexadecimal.
func (t *Tokenizer) SHA256() string { return t.sum }

// Size returns the number of ids: one more than the highest, added tokens included.
func (t *Tokenizer) Size() int {
	return int(max(t.model.highest, t.added.highest)) + 1
}

// ID returns the id of a token as the file writes it, or of an added token.
func (t *Tokenizer) ID(token string) (int32, bool) {
	if id, ok := t.added.ids[token]; ok {
		return id, true
	}
	id, ok := t.model.vocabulary[token]
	return id, ok
}

// Special returns the added tokens that are marked special, by id.
func (t *Tokenizer) Special() []Added {
	special := []Added{}
	for _, a := range t.Added() {
		if a.Special {
			special = append(special, a)
		}
	}
	return special
}

// Added returns all added tokens, by id.
func (t *Tokenizer) Added() []Added {
	all := make([]Added, 0, len(t.added.tokens))
	for _, a := range t.added.tokens {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b Added) int { return int(a.ID) - int(b.ID) })
	return all
}
