package tokenizer

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// addedTokens are tokens that are matched before words are split.
type addedTokens struct {
	ids        map[string]int32
	tokens     map[int32]Added
	written    map[int32]string // normalized form of tokens, for decoding, if it differs
	verbatim   *finderOfAdded   // of tokens that are not normalized
	normalized *finderOfAdded
	highest    int32
}

// parseAdded reads added_tokens. It assigns ids as the reference does, ignoring those in the
// file: a token of the vocabulary keeps its id, any other gets the next free one.
func parseAdded(n node, m *model, normalize normalizer) *addedTokens {
	a := &addedTokens{ids: map[string]int32{}, tokens: map[int32]Added{}, written: map[int32]string{},
		verbatim: newFinderOfAdded(), normalized: newFinderOfAdded()}
	if !n.absent() {
		next := int32(len(m.vocabulary))
		for _, item := range n.list() {
			if token := parseAddedToken(item); token.Content != "" {
				next = a.add(token, next, m, normalize)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(a.tokens)) {
		token := a.tokens[id]
		into, content := a.verbatim, token.Content
		if token.Normalized {
			into = a.normalized
			if w, ok := a.written[id]; ok {
				content = w
			}
		}
		if content == "" || !into.add(content, token) {
			panic(n.refuse("token %q is, normalized, empty or the same as another", token.Content))
		}
		a.highest = max(a.highest, id)
	}
	return a
}

func parseAddedToken(n node) (t Added) {
	options := n.object("id", "content", "single_word", "lstrip", "rstrip", "normalized", "special")
	options["id"].decode(&t.ID, "a number")
	t.Content = options["content"].text()
	t.SingleWord = options["single_word"].flag()
	t.LStrip = options["lstrip"].flag()
	t.RStrip = options["rstrip"].flag()
	t.Normalized = options["normalized"].flag()
	t.Special = options["special"].flag()
	return t
}

// add adds a token and returns the next free id.
func (a *addedTokens) add(t Added, next int32, m *model, normalize normalizer) int32 {
	id, known := a.ids[t.Content]
	if !known {
		id, known = m.vocabulary[t.Content]
	}
	if !known {
		id = next
		next++
	}
	t.ID = id
	if t.Normalized && normalize != nil {
		if w := normalize.apply(aligned{text: t.Content}).text; w != t.Content {
			a.written[id] = w
		}
	}
	a.ids[t.Content] = id
	a.tokens[id] = t
	return next
}

// finderOfAdded finds added tokens: the leftmost, and among those the longest.
type finderOfAdded struct {
	nodes []trieNode
	first [256]bool
	only  int // the first byte of all tokens, −1 if they differ
	count int
}

// trieNode is a node of a trie whose children are a list.
type trieNode struct {
	child, sibling int32
	token          *Added
	label          byte
}

func newFinderOfAdded() *finderOfAdded {
	return &finderOfAdded{nodes: make([]trieNode, 1), only: -1}
}

// add adds a token under a text and reports whether the text is new.
func (f *finderOfAdded) add(text string, t Added) bool {
	at := int32(0)
	for i := range len(text) {
		next := f.child(at, text[i])
		if next == 0 {
			next = int32(len(f.nodes))
			f.nodes = append(f.nodes, trieNode{label: text[i], sibling: f.nodes[at].child})
			f.nodes[at].child = next
		}
		at = next
	}
	if f.nodes[at].token != nil {
		return false
	}
	f.nodes[at].token = &t
	f.first[text[0]] = true
	if f.count == 0 {
		f.only = int(text[0])
	} else if f.only != int(text[0]) {
		f.only = -1
	}
	f.count++
	return true
}

// child returns the child of a node, 0 if there is none.
func (f *finderOfAdded) child(at int32, label byte) int32 {
	for c := f.nodes[at].child; c != 0; c = f.nodes[c].sibling {
		if f.nodes[c].label == label {
			return c
		}
	}
	return 0
}

// next returns the next token at or after from, and where it starts and ends, or nil. It
// ignores special tokens where hidden returns true.
func (f *finderOfAdded) next(text string, from int, hidden func(start, end int) bool) (token *Added, start, end int) {
	if f.count == 0 {
		return nil, 0, 0
	}
	for i := from; i < len(text); i++ {
		if f.only >= 0 {
			skip := strings.IndexByte(text[i:], byte(f.only))
			if skip < 0 {
				break
			}
			i += skip
		} else if !f.first[text[i]] {
			continue
		}
		at := int32(0)
		for j := i; j < len(text); j++ {
			if at = f.child(at, text[j]); at == 0 {
				break
			}
			if t := f.nodes[at].token; t != nil && !(t.Special && hidden(i, j+1)) {
				token, end = t, j+1
			}
		}
		if token != nil {
			return token, i, end
		}
	}
	return nil, 0, 0
}

// standsAlone reports whether no word character is next to text[start:end].
func standsAlone(text string, start, end int) bool {
	before, after := neighboursIn(text, start, end, "word")
	return !before && !after
}

// neighboursIn reports whether the characters before start and at end belong to a class of
// characters.txt.
func neighboursIn(text string, start, end int, class string) (before, after bool) {
	words := namedRanges(class)
	if start > 0 {
		r, _ := utf8.DecodeLastRuneInString(text[:start])
		before = inRanges(words, r)
	}
	if end < len(text) {
		r, _ := utf8.DecodeRuneInString(text[end:])
		after = inRanges(words, r)
	}
	return before, after
}
