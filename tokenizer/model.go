package tokenizer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// model merges words by byte-pair encoding.
type model struct {
	vocabulary map[string]int32
	tokens     map[int32]string
	highest    int32
	merges     mergeTable
	unknown    int32 // ID for characters without one, −1 if they are skipped
	fuse       bool  // adjacent unknown characters become one token
	fallback   *[256]int32
	whole      map[string]int32 // words that are tokens and are not merged; nil: none
	chars      map[rune]int32   // ids of single characters
	bytes      *[256]int32      // ids of single bytes; nil if words consist of characters
	cache      *wordCache
}

func parseModel(n node) *model {
	if kind := n.kind(); kind != "BPE" {
		panic(n.unknownKind("model", kind))
	}
	options := n.object("type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
		"fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges")
	m := &model{cache: newWordCache()}
	m.parseVocabulary(options["vocab"])
	m.parseMerges(options["merges"])
	m.parseOptions(options)
	return m
}

func (m *model) parseVocabulary(n node) {
	n.bound(mostVocabulary)
	n.decode(&m.vocabulary, "an object of ids")
	m.tokens = make(map[int32]string, len(m.vocabulary))
	m.chars = map[rune]int32{}
	for token, id := range m.vocabulary {
		if id < 0 {
			panic(n.refuse("token %q has the id %d", token, id))
		}
		if other, twice := m.tokens[id]; twice {
			panic(n.refuse("id %d belongs to two tokens, %q and %q", id, min(token, other), max(token, other)))
		}
		m.tokens[id] = token
		m.highest = max(m.highest, id)
		if r, size := utf8.DecodeRuneInString(token); size == len(token) && size > 0 {
			m.chars[r] = id
		}
	}
}

// parseMerges reads merges as pairs or, in the older form, as strings "left right".
func (m *model) parseMerges(n node) {
	n.bound(mostMerges)
	var pairs [][2]string
	if err := json.Unmarshal(n.raw, &pairs); err != nil || n.absent() {
		pairs = mergeLines(n)
	}
	m.merges = newMergeTable(len(pairs))
	for rank, pair := range pairs {
		left, okLeft := m.vocabulary[pair[0]]
		right, okRight := m.vocabulary[pair[1]]
		whole, okWhole := m.vocabulary[pair[0]+pair[1]]
		if !okLeft || !okRight || !okWhole {
			panic(n.refuse("merge %d of %q and %q has tokens that are not in the vocabulary", rank, pair[0], pair[1]))
		}
		m.merges.set(left, right, merge{rank: int32(rank), id: whole})
	}
}

func mergeLines(n node) (pairs [][2]string) {
	var lines []string
	n.decode(&lines, "a list of pairs, or of strings")
	for _, line := range lines {
		if strings.HasPrefix(line, "#version") {
			continue
		}
		left, right, ok := strings.Cut(line, " ")
		if !ok || strings.Contains(right, " ") {
			panic(n.refuse("merge %q is not two tokens", line))
		}
		pairs = append(pairs, [2]string{left, right})
	}
	return pairs
}

func (m *model) parseOptions(options map[string]node) {
	if n := options["dropout"]; !n.absent() {
		var dropout float64
		if n.decode(&dropout, "a number"); dropout != 0 {
			panic(n.refuse("drops merges at random: a text would get different ids each time"))
		}
	}
	for _, name := range []string{"continuing_subword_prefix", "end_of_word_suffix"} {
		if n := options[name]; !n.absent() && n.text() != "" {
			panic(n.refuse("%q: marks inside words are not supported", n.text()))
		}
	}
	m.fuse = options["fuse_unk"].flagOr(false)
	if options["byte_fallback"].flagOr(false) {
		m.fallback = m.fallbackTokens()
	}
	if options["ignore_merges"].flagOr(false) {
		m.whole = m.vocabulary
	}
	m.unknown = -1
	if n := options["unk_token"]; !n.absent() {
		id, ok := m.vocabulary[n.text()]
		if !ok {
			panic(n.refuse("%q is not in the vocabulary", n.text()))
		}
		m.unknown = id
	}
}

// fallbackTokens returns the ids of the tokens "<0x00>" to "<0xFF>", −1 for missing ones.
func (m *model) fallbackTokens() *[256]int32 {
	var ids [256]int32
	for b := range ids {
		id, ok := m.vocabulary[fmt.Sprintf("<0x%02X>", b)]
		if !ok {
			id = -1
		}
		ids[b] = id
	}
	return &ids
}

// takeByteStage removes the last stage if it writes bytes as characters and each byte has a
// token: words are then merged as bytes.
func (m *model) takeByteStage(stages []stage) []stage {
	last := len(stages) - 1
	if slices.IndexFunc(stages, func(s stage) bool { return s.kind == stageByteChars }) != last || last < 0 {
		return stages // later stages need characters
	}
	ids := new([256]int32)
	for b, c := range byteChars {
		id, ok := m.chars[c]
		if !ok {
			return stages
		}
		ids[b] = id
	}
	m.bytes = ids
	if m.whole != nil {
		m.whole = make(map[string]int32, len(m.vocabulary))
		for token, id := range m.vocabulary {
			if raw, ok := appendCharBytes(nil, token); ok {
				m.whole[string(raw)] = id
			}
		}
	}
	return stages[:last]
}
