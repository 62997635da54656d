package tokenizer

import "unicode/utf8"

// shortWord is the maximum number of symbols for which scanning all pairs for the lowest rank
// is faster than a queue.
const shortWord = 48

// appendWord appends the ids of one word.
func (m *model) appendWord(dst []int32, word string) []int32 {
	if len(word) > longestCached {
		return m.appendMerged(dst, word)
	}
	hash := m.cache.hash(word)
	if ids := m.cache.get(hash, word); ids != nil {
		return append(dst, ids...)
	}
	start := len(dst)
	dst = m.appendMerged(dst, word)
	if len(dst) > start {
		m.cache.put(hash, word, dst[start:])
	}
	return dst
}

// appendMerged appends the ids of one word without the cache.
func (m *model) appendMerged(dst []int32, word string) []int32 {
	if m.whole != nil {
		if id, ok := m.whole[word]; ok {
			return append(dst, id)
		}
	}
	start := len(dst)
	dst = m.appendSymbols(dst, word)
	var n int
	if len(dst)-start <= shortWord {
		n = m.mergeShort(dst[start:])
	} else {
		n = m.mergeLong(dst[start:])
	}
	return dst[:start+n]
}

// appendSymbols appends the ids with which merging starts: one per byte or character, or their
// substitutes.
func (m *model) appendSymbols(dst []int32, word string) []int32 {
	if m.bytes != nil {
		for i := range len(word) {
			dst = append(dst, m.bytes[word[i]])
		}
		return dst
	}
	pending := false // an unknown character was seen, but not yet appended
	for i, r := range word {
		size := utf8.RuneLen(r)
		if id, ok := m.chars[r]; ok {
			if pending {
				dst, pending = append(dst, m.unknown), false
			}
			dst = append(dst, id)
			continue
		}
		if m.fallback != nil && m.fallsBack(word[i:i+size]) {
			// Like the reference, keep a pending unknown character until after these bytes.
			for j := i; j < i+size; j++ {
				dst = append(dst, m.fallback[word[j]])
			}
			continue
		}
		if m.unknown < 0 {
			continue
		}
		if pending && !m.fuse {
			dst = append(dst, m.unknown)
		}
		pending = true
	}
	if pending {
		dst = append(dst, m.unknown)
	}
	return dst
}

// fallsBack reports whether each byte of a character has a token.
func (m *model) fallsBack(char string) bool {
	for i := range len(char) {
		if m.fallback[char[i]] < 0 {
			return false
		}
	}
	return true
}

// mergeShort merges at most shortWord symbols in place and returns their remaining number: the
// neighbours with the lowest rank first, and the leftmost of equal ranks.
func (m *model) mergeShort(ids []int32) int {
	var merges [shortWord]merge // merges[i] is that of ids[i] and ids[i+1]
	n := len(ids)
	for i := 0; i+1 < n; i++ {
		merges[i] = m.merges.get(ids[i], ids[i+1])
	}
	for n > 1 {
		best, rank := -1, noMerge.rank
		for i, c := range merges[:n-1] {
			if c.rank < rank {
				best, rank = i, c.rank
			}
		}
		if best < 0 {
			break
		}
		ids[best] = merges[best].id
		copy(ids[best+1:n], ids[best+2:n])
		copy(merges[best:n-1], merges[best+1:n-1])
		n--
		if best > 0 {
			merges[best-1] = m.merges.get(ids[best-1], ids[best])
		}
		if best+1 < n {
			merges[best] = m.merges.get(ids[best], ids[best+1])
		}
	}
	return n
}
