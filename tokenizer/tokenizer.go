package tokenizer

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"

	"relabel"
	"relabel/modelfiles"
)

// Tokenizer turns text into token ids and back. It is safe for concurrent use.
type Tokenizer struct {
	sum       string
	added     *addedTokens
	normalize normalizer // nil where text is taken as it is
	stages    []stage
	model     *model
	decoder   *decoder
}

// Span is a part of a text, in bytes: from Start up to, not including, End.
type Span struct{ Start, End int }

// Added is a token that is found in text as it stands, before any word is split.
type Added struct {
	Content    string
	ID         int32
	Special    bool // not seen in plain spans
	SingleWord bool // only where no character of a word stands beside it
	LStrip     bool // takes the white space before it
	RStrip     bool // takes the white space after it
	Normalized bool // is normalized itself, and found in normalized text
}

// Open reads a tokenizer.json, or the one in a folder, of at most 64 MiB. It refuses, naming
// the JSON path, each component and option that it does not know.
func Open(path string) (*Tokenizer, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, relabel.TokenizerJSON)
	}
	data, err := modelfiles.ReadFile(path, relabel.MaxTokenizerBytes)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeNotFound, "the tokenizer cannot be read").On(path).Because(err)
	}
	return Parse(data)
}

// Parse reads the content of a tokenizer.json as Open does.
func Parse(data []byte) (*Tokenizer, error) {
	whole := node{raw: data}
	if err := whole.checkDepth(); err != nil {
		return nil, err
	}
	parts, err := whole.object("version", "truncation", "padding", "added_tokens", "normalizer",
		"pre_tokenizer", "post_processor", "decoder", "model")
	if err != nil {
		return nil, err
	}
	if err := checkSizes(parts); err != nil {
		return nil, err
	}
	if err := checkFrame(parts); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	t := &Tokenizer{sum: hex.EncodeToString(sum[:])}
	if t.model, err = parseModel(parts["model"]); err != nil {
		return nil, err
	}
	if t.normalize, err = parseNormalizer(parts["normalizer"]); err != nil {
		return nil, err
	}
	if growth(t.normalize) > mostGrowth {
		return nil, parts["normalizer"].refuse("replaces a character by more than %d bytes", mostGrowth)
	}
	if t.stages, err = parsePreTokenizer(parts["pre_tokenizer"]); err != nil {
		return nil, err
	}
	t.stages = t.model.takeByteStage(t.stages)
	if t.added, err = parseAdded(parts["added_tokens"], t.model, t.normalize); err != nil {
		return nil, err
	}
	if t.decoder, err = parseDecoder(parts["decoder"]); err != nil {
		return nil, err
	}
	return t, nil
}

// checkFrame looks at the parts that have no say in the ids here: they must be known to
// have none.
func checkFrame(parts map[string]node) error {
	if !parts["version"].absent() {
		if v, err := parts["version"].text(); err != nil {
			return err
		} else if v != "1.0" {
			return parts["version"].refuse("version %q is not known, only 1.0 is", v)
		}
	}
	if !parts["truncation"].absent() {
		return parts["truncation"].refuse("would cut texts unseen: set it to null")
	}
	if !parts["padding"].absent() {
		return parts["padding"].refuse("would fill texts up unseen: set it to null")
	}
	return checkPostProcessor(parts["post_processor"])
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
