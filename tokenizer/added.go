package tokenizer

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// addedTokens are tokens that are matched in the raw text.
type addedTokens struct {
	ids        map[string]int32
	tokens     map[int32]Added
	written    map[int32]string // normalized tokens as decoding sees them, where that differs
	verbatim   *finderOfAdded   // of tokens that are not normalized
	normalized *finderOfAdded
	highest    int32
}

// parseAdded reads added_tokens. Ids are given as the reference gives them: a token of
// the vocabulary has its id there, any other the next free one, whatever the file says.
func parseAdded(n node, m *model, normalize normalizer) (*addedTokens, error) {
	a := &addedTokens{ids: map[string]int32{}, tokens: map[int32]Added{}, written: map[int32]string{},
		verbatim: newFinderOfAdded(), normalized: newFinderOfAdded()}
	if !n.absent() {
		list, err := n.list()
		if err != nil {
			return nil, err
		}
		next := int32(len(m.vocabulary))
		for _, item := range list {
			token, err := parseAddedToken(item)
			if err != nil {
				return nil, err
			}
			if token.Content != "" {
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
			return nil, n.refuse("token %q is, normalized, empty or the same as another", token.Content)
		}
		a.highest = max(a.highest, id)
	}
	return a, nil
}

func parseAddedToken(n node) (Added, error) {
	var t Added
	options, err := n.object("id", "content", "single_word", "lstrip", "rstrip", "normalized", "special")
	if err != nil {
		return t, err
	}
	if err := options["id"].decode(&t.ID, "a number"); err != nil {
		return t, err
	}
	if t.Content, err = options["content"].text(); err != nil {
		return t, err
	}
	for _, f := range []struct {
		name string
		flag *bool
	}{{"single_word", &t.SingleWord}, {"lstrip", &t.LStrip}, {"rstrip", &t.RStrip}, {"normalized", &t.Normalized}, {"special", &t.Special}} {
		if *f.flag, err = options[f.name].flag(); err != nil {
			return t, err
		}
	}
	return t, nil
}

// add enters a token and returns the next free id.
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
	only  int // the one byte that all tokens begin with, or −1
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

// add enters a token under the text that stands for it, and reports whether that is new.
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

// child returns the child of a node, 0 where there is none.
func (f *finderOfAdded) child(at int32, label byte) int32 {
	for c := f.nodes[at].child; c != 0; c = f.nodes[c].sibling {
		if f.nodes[c].label == label {
			return c
		}
	}
	return 0
}

// next returns the next token in text from a place on, and where it begins and ends, or
// nil. Where hidden says so, a special token is not seen.
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

// standsAlone reports whether no character of a word touches text[start:end].
func standsAlone(text string, start, end int) bool {
	words := namedRanges("word")
	if start > 0 {
		if r, _ := utf8.DecodeLastRuneInString(text[:start]); inRanges(words, r) {
			return false
		}
	}
	if end < len(text) {
		if r, _ := utf8.DecodeRuneInString(text[end:]); inRanges(words, r) {
			return false
		}
	}
	return true
}
