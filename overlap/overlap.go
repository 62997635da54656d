// Package overlap measures how much of one patch is in another, by the runs of 13 tokens that both have.
package overlap

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"relabel/gitdiff"
)

// Size is the number of tokens of a gram.
const Size = 13

// Threshold is the share from which two patches count as near duplicates, unless another is chosen.
const Threshold = 0.5

// Grams is the set of a patch's grams as hashes, in ascending order. The hashes of equal grams are equal in
// every process.
type Grams []uint64

// Of returns the grams of a patch. The added lines of a file, in order, are one text, and its removed lines are
// another; context, headings and paths do not count. A token is a run of letters, digits and underscores, or one
// other character that is not a space. Each 13 consecutive tokens of a text are a gram. So neither the amount of
// context, nor white space, nor the order of files matters, and a patch has the grams of its reverse.
//
// A patch all of whose texts are shorter has one gram instead: its paths and tokens, so only patches that make the
// same small change to the same files share it. A patch that changes no line has none.
func Of(patch string) Grams {
	texts := textsOf(patch)
	var grams Grams
	for _, t := range texts {
		grams = appendGrams(grams, t.tokens)
	}
	if len(grams) == 0 {
		grams = smallChange(texts)
	}
	slices.Sort(grams)
	return slices.Compact(grams)
}

// Share is the number of grams that a and b have in common, as a share of the smaller set: 1 if one patch contains
// the other, 0 if they have nothing in common or one has no gram. It also returns that number.
func Share(a, b Grams) (share float64, common int) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			common++
			i++
			j++
		}
	}
	return shareOf(common, len(a), len(b)), common
}

func shareOf(common, a, b int) float64 {
	if common == 0 {
		return 0
	}
	return float64(common) / float64(min(a, b))
}

// text is what a patch adds to a file, or removes from it.
type text struct {
	path   string
	op     byte     // gitdiff.Added or gitdiff.Removed
	tokens []uint64 // their hashes
}

// textsOf collects the texts of a patch, also of one that is not complete.
func textsOf(patch string) []text {
	var added, removed []text
	path := ""
	last := func(texts []text, op byte) []text {
		if len(texts) == 0 || texts[len(texts)-1].path != path {
			texts = append(texts, text{path: path, op: op})
		}
		return texts
	}
	for _, line := range gitdiff.Lines(patch) {
		switch line.Op {
		case gitdiff.Header:
			path = pathOf(line.Text, path)
		case gitdiff.Added:
			added = last(added, line.Op)
			t := &added[len(added)-1]
			t.tokens = appendTokens(t.tokens, line.Text)
		case gitdiff.Removed:
			removed = last(removed, line.Op)
			t := &removed[len(removed)-1]
			t.tokens = appendTokens(t.tokens, line.Text)
		}
	}
	return append(added, removed...)
}

// pathOf returns the path that a header line names for the lines after it; before is the one so far.
func pathOf(header, before string) string {
	if path, ok := strings.CutPrefix(header, "--- "); ok && !strings.HasPrefix(path, "/dev/null") {
		return withoutFolder(path)
	}
	if path, ok := strings.CutPrefix(header, "+++ "); ok && !strings.HasPrefix(path, "/dev/null") {
		return withoutFolder(path)
	}
	return before
}

// withoutFolder removes the first folder (a/ or b/) and a time after a tab.
func withoutFolder(path string) string {
	path, _, _ = strings.Cut(strings.TrimSuffix(path, "\r"), "\t")
	if _, rest, ok := strings.Cut(path, "/"); ok {
		return rest
	}
	return path
}

// appendTokens appends the hashes of a line's tokens.
func appendTokens(tokens []uint64, line string) []uint64 {
	for len(line) > 0 {
		r, size := utf8.DecodeRuneInString(line)
		if unicode.IsSpace(r) {
			line = line[size:]
			continue
		}
		end := size
		if inWord(r) {
			end = wordEnd(line)
		}
		tokens = append(tokens, xxhash.Sum64String(line[:end]))
		line = line[end:]
	}
	return tokens
}

func inWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

func wordEnd(s string) int {
	if end := strings.IndexFunc(s, func(r rune) bool { return !inWord(r) }); end >= 0 {
		return end
	}
	return len(s)
}

// factor is the base of the polynomial that hashes the tokens of a gram.
const factor = 0x9E3779B97F4A7C15

// appendGrams appends the hashes of the grams of a text, with a rolling hash.
func appendGrams(grams Grams, tokens []uint64) Grams {
	leaving := uint64(1) // the weight of the token that leaves the window
	for range Size {
		leaving *= factor
	}
	var hash uint64
	for i, token := range tokens {
		hash = hash*factor + token
		if i >= Size {
			hash -= tokens[i-Size] * leaving
		}
		if i >= Size-1 {
			grams = append(grams, mix(hash))
		}
	}
	return grams
}

// mix spreads the bits of a rolling hash, whose low bits depend on the low bits of tokens only.
func mix(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// smallChange is the one gram of a patch without runs of 13 tokens; none if it has no token.
func smallChange(texts []text) Grams {
	texts = slices.Clone(texts)
	slices.SortStableFunc(texts, func(a, b text) int { return strings.Compare(a.path, b.path) })
	var hash uint64
	found := false
	for _, t := range texts {
		hash = hash*factor + xxhash.Sum64String(t.path)
		hash = hash*factor + uint64(t.op)
		for _, token := range t.tokens {
			hash = hash*factor + token
			found = true
		}
	}
	if !found {
		return nil
	}
	return Grams{mix(hash)}
}
