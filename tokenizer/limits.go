package tokenizer

import "iter"

// Bounds of a tokenizer.json, so that a hostile file costs no more memory than a large
// real one. The largest vocabulary in use has 262,144 tokens, with 580,000 merges.
const (
	mostMembers    = 64      // of an object with known keys
	mostItems      = 100_000 // of a list
	mostVocabulary = 512_000 // tokens
	mostMerges     = 1_200_000
	mostComponent  = 1 << 20  // bytes of a normalizer, pre-tokenizer, post-processor or decoder
	mostDepth      = 32       // lists and objects within each other
	mostPattern    = 16 << 10 // bytes of a regular expression
	mostGrowth     = 4096     // bytes that replacements may make of one
)

// bound refuses a list or an object with more than most entries, before it is decoded.
func (n node) bound(most int) {
	if entriesOf(n.raw, most) > most {
		panic(n.refuse("has more than %d entries", most))
	}
}

// structure yields each bracket and comma of a JSON text that is outside of its strings, with
// the number of lists and objects that are open after it. raw need not be valid.
func structure(raw []byte) iter.Seq2[byte, int] {
	return func(yield func(mark byte, depth int) bool) {
		depth, quoted := 0, false
		for i := 0; i < len(raw); i++ {
			c := raw[i]
			switch {
			case quoted && c == '\\':
				i++
				continue
			case c == '"':
				quoted = !quoted
				continue
			case quoted:
				continue
			}
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth--
			case ',':
			default:
				continue
			}
			if !yield(c, depth) {
				return
			}
		}
	}
}

// entriesOf counts the entries of a JSON list or object, up to one more than most. Of an
// empty one it returns at most 1.
func entriesOf(raw []byte, most int) int {
	entries := 1
	for mark, depth := range structure(raw) {
		if mark == ',' && depth == 1 {
			entries++
		}
		if entries > most {
			break
		}
	}
	return entries
}

// checkSizes refuses oversized components before they are decoded: each level of nesting
// copies everything below it.
func checkSizes(parts map[string]node) {
	for _, name := range []string{"normalizer", "pre_tokenizer", "post_processor", "decoder"} {
		if n := parts[name]; len(n.raw) > mostComponent {
			panic(n.refuse("has %d bytes; at most %d are accepted", len(n.raw), mostComponent))
		}
	}
}

// checkDepth refuses JSON that is nested deeper than any real file.
func (n node) checkDepth() {
	for _, depth := range structure(n.raw) {
		if depth > mostDepth {
			panic(n.refuse("is nested deeper than %d", mostDepth))
		}
	}
}

// growth returns an upper bound on the bytes that a normalizer's replacements make of one byte.
func growth(n normalizer) int {
	switch n := n.(type) {
	case normalizers:
		product := 1
		for _, each := range n {
			product = min(product*growth(each), mostGrowth+1)
		}
		return product
	case replace:
		return min(1+len(n.content), mostGrowth+1)
	}
	return 1
}
