package tokenizer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// definition is what a tokenizer.json says about ids beside its model and added tokens.
type definition struct {
	parts []byte        // canonical JSON
	hash  func() string // computed once: a vocabulary is large
}

// define reads the parts of a tokenizer.json that affect the ids of a text.
func define(m *model, parts map[string]node) definition {
	d := definition{parts: slices.Concat(canonical(parts["normalizer"]), []byte("\n"), canonical(parts["pre_tokenizer"]))}
	d.hash = sync.OnceValue(func() string { return m.sum(d.parts) })
	return d
}

// canonical is the JSON of a part with sorted keys and without offsets, which do not affect ids. An absent
// part is null.
func canonical(n node) []byte {
	var value any
	if !n.absent() {
		decoder := json.NewDecoder(bytes.NewReader(n.raw))
		decoder.UseNumber()
		if decoder.Decode(&value) != nil {
			panic(n.refuse("is not JSON"))
		}
	}
	dropOffsets(value)
	text, err := json.Marshal(value)
	if err != nil {
		panic(n.refuse("is not JSON"))
	}
	return text
}

func dropOffsets(value any) {
	switch v := value.(type) {
	case map[string]any:
		delete(v, "trim_offsets")
		for _, part := range v {
			dropOffsets(part)
		}
	case []any:
		for _, part := range v {
			dropOffsets(part)
		}
	}
}

// sum is the hash of the tokens by id, the merges by rank, the options, and further parts.
func (m *model) sum(parts []byte) string {
	sum := sha256.New()
	for _, id := range slices.Sorted(maps.Keys(m.tokens)) {
		fmt.Fprintf(sum, "%d %q\n", id, m.tokens[id])
	}
	for _, pair := range m.merges.pairs() {
		fmt.Fprintf(sum, "%d %d\n", uint32(pair>>32), uint32(pair))
	}
	fmt.Fprintf(sum, "unknown %d fuse %t fallback %t whole %t\n", m.unknown, m.fuse, m.fallback != nil, m.whole != nil)
	sum.Write(parts)
	return hex.EncodeToString(sum.Sum(nil))
}

// pairs returns the pairs that merge, the lowest rank first.
func (t *mergeTable) pairs() []uint64 {
	var used []int
	for i, pair := range t.keys {
		if pair != emptyPair {
			used = append(used, i)
		}
	}
	slices.SortFunc(used, func(a, b int) int { return int(t.merges[a].rank) - int(t.merges[b].rank) })
	pairs := make([]uint64, len(used))
	for i, at := range used {
		pairs[i] = t.keys[at]
	}
	return pairs
}

// VocabularyHash identifies what gives a text its ids, but for added tokens: the SHA-256, in hexadecimal,
// of the tokens by id, the merges in order, the normalizer, the pre-tokenizer and the model's options.
// Tokenizers with the same hash give a text without added tokens the same ids.
func (t *Tokenizer) VocabularyHash() string { return t.definition.hash() }

// Foreign returns the first of ids that is not the same token in t and other: an added token of one that
// the other lacks or writes differently, or an id that neither has. It presumes equal vocabulary hashes.
func (t *Tokenizer) Foreign(other *Tokenizer, ids []int32) (id int32, found bool) {
	for _, id := range ids {
		mine, added := t.added.tokens[id]
		theirs, addedThere := other.added.tokens[id]
		_, known := t.model.tokens[id]
		if mine.Content != theirs.Content || !known && !added && !addedThere {
			return id, true
		}
	}
	return 0, false
}
