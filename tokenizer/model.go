package tokenizer

import (
	"encoding/json"
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
	whole      map[string]int32 // words that are tokens as they stand; nil where merges decide
	chars      map[rune]int32   // the ids of single characters
	bytes      *[256]int32      // the ids of single bytes, where words are bytes and not characters
	cache      *wordCache
}

func parseModel(n node) (*model, error) {
	kind, err := n.kind()
	if err != nil {
		return nil, err
	}
	if kind != "BPE" {
		return nil, n.unknownKind("model", kind)
	}
	options, err := n.object("type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
		"fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges")
	if err != nil {
		return nil, err
	}
	m := &model{cache: newWordCache()}
	if err := m.parseVocabulary(options["vocab"]); err != nil {
		return nil, err
	}
	if err := m.parseMerges(options["merges"]); err != nil {
		return nil, err
	}
	return m, m.parseOptions(options)
}

func (m *model) parseVocabulary(n node) error {
	if err := n.bound(mostVocabulary); err != nil {
		return err
	}
	if err := n.decode(&m.vocabulary, "an object of ids"); err != nil {
		return err
	}
	m.tokens = make(map[int32]string, len(m.vocabulary))
	m.chars = map[rune]int32{}
	for token, id := range m.vocabulary {
		if id < 0 {
			return n.refuse("token %q has the id %d", token, id)
		}
		if other, twice := m.tokens[id]; twice {
			return n.refuse("id %d is of two tokens, %q and %q", id, min(token, other), max(token, other))
		}
		m.tokens[id] = token
		m.highest = max(m.highest, id)
		if r, size := utf8.DecodeRuneInString(token); size == len(token) && size > 0 {
			m.chars[r] = id
		}
	}
	return nil
}

// parseMerges reads merges as pairs or, as they were written before, as "left right".
func (m *model) parseMerges(n node) error {
	if err := n.bound(mostMerges); err != nil {
		return err
	}
	var pairs [][2]string
	if err := json.Unmarshal(n.raw, &pairs); err != nil || n.absent() {
		var lines []string
		if err := n.decode(&lines, "a list of pairs, or of strings"); err != nil {
			return err
		}
		pairs = make([][2]string, 0, len(lines))
		for _, line := range lines {
			if strings.HasPrefix(line, "#version") {
				continue
			}
			left, right, ok := strings.Cut(line, " ")
			if !ok || strings.Contains(right, " ") {
				return n.refuse("merge %q is not two tokens", line)
			}
			pairs = append(pairs, [2]string{left, right})
		}
	}
	m.merges = newMergeTable(len(pairs))
	for rank, pair := range pairs {
		left, okLeft := m.vocabulary[pair[0]]
		right, okRight := m.vocabulary[pair[1]]
		whole, okWhole := m.vocabulary[pair[0]+pair[1]]
		if !okLeft || !okRight || !okWhole {
			return n.refuse("merge %d of %q and %q is of tokens that the vocabulary lacks", rank, pair[0], pair[1])
		}
		m.merges.set(left, right, merge{rank: int32(rank), id: whole})
	}
	return nil
}

func (m *model) parseOptions(options map[string]node) error {
	if n := options["dropout"]; !n.absent() {
		var dropout float64
		if err := n.decode(&dropout, "a number"); err != nil {
			return err
		}
		if dropout != 0 {
			return n.refuse("drops merges by chance: the same text would have other ids each time")
		}
	}
	for _, name := range []string{"continuing_subword_prefix", "end_of_word_suffix"} {
		if n := options[name]; !n.absent() {
			if s, err := n.text(); err != nil {
				return err
			} else if s != "" {
				return n.refuse("%q: marks inside of words are not known", s)
			}
		}
	}
	var err error
	if m.fuse, err = options["fuse_unk"].flagOr(false); err != nil {
		return err
	}
	if err := m.parseFallback(options["byte_fallback"]); err != nil {
		return err
	}
	if whole, err := options["ignore_merges"].flagOr(false); err != nil {
		return err
	} else if whole {
		m.whole = m.vocabulary
	}
	return m.parseUnknown(options["unk_token"])
}

func (m *model) parseUnknown(n node) error {
	m.unknown = -1
	if n.absent() {
		return nil
	}
	s, err := n.text()
	if err != nil {
		return err
	}
	id, ok := m.vocabulary[s]
	if !ok {
		return n.refuse("%q is not in the vocabulary", s)
	}
	m.unknown = id
	return nil
}

// parseFallback looks for the tokens "<0x00>" to "<0xFF>"; those that are missing are −1.
func (m *model) parseFallback(n node) error {
	wanted, err := n.flagOr(false)
	if err != nil || !wanted {
		return err
	}
	const digits = "0123456789ABCDEF"
	m.fallback = new([256]int32)
	for b := range m.fallback {
		id, ok := m.vocabulary["<0x"+digits[b>>4:b>>4+1]+digits[b&15:b&15+1]+">"]
		if !ok {
			id = -1
		}
		m.fallback[b] = id
	}
	return nil
}

// takeByteStage takes the last stage off where it writes bytes as characters and each
// byte has a token: words are then merged as the bytes that they are.
func (m *model) takeByteStage(stages []stage) []stage {
	last := len(stages) - 1
	for i, s := range stages {
		if s.kind == stageByteChars && i < last {
			return stages // what comes after it must see characters
		}
	}
	if last < 0 || stages[last].kind != stageByteChars {
		return stages
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
