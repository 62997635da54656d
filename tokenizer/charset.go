package tokenizer

import (
	"slices"
	"unicode/utf8"
)

// charSet is a set of code points: ranges in ascending order that do not touch.
type charSet []runeRange

// tidy sorts ranges and joins those that overlap or touch.
func tidy(ranges []runeRange) charSet {
	sorted := slices.Clone(ranges)
	slices.SortFunc(sorted, func(a, b runeRange) int { return int(a.first) - int(b.first) })
	var set charSet
	for _, r := range sorted {
		if n := len(set); n > 0 && r.first <= set[n-1].last+1 {
			set[n-1].last = max(set[n-1].last, r.last)
		} else {
			set = append(set, r)
		}
	}
	return set
}

func setOf(runes ...rune) charSet {
	ranges := make([]runeRange, len(runes))
	for i, r := range runes {
		ranges[i] = runeRange{r, r}
	}
	return tidy(ranges)
}

func (s charSet) union(other charSet) charSet { return tidy(slices.Concat(s, other)) }

// complement returns all code points that are not in s.
func (s charSet) complement() charSet {
	var out charSet
	next := rune(0)
	for _, r := range s {
		if r.first > next {
			out = append(out, runeRange{next, r.first - 1})
		}
		next = r.last + 1
	}
	if next <= utf8.MaxRune {
		out = append(out, runeRange{next, utf8.MaxRune})
	}
	return out
}

func (s charSet) intersection(other charSet) charSet {
	return s.complement().union(other.complement()).complement()
}

// foldedASCII adds the other case of each letter, and the two characters beyond ASCII whose small
// letters are s and k. It returns false if the set contains characters beyond ASCII.
func (s charSet) foldedASCII() (charSet, bool) {
	out := slices.Clone(s)
	for _, r := range s {
		if r.last >= utf8.RuneSelf {
			return nil, false
		}
		for c := r.first; c <= r.last; c++ {
			if lower := c | 0x20; lower >= 'a' && lower <= 'z' {
				out = append(out, runeRange{c ^ 0x20, c ^ 0x20})
				switch lower {
				case 's':
					out = append(out, runeRange{'ſ', 'ſ'})
				case 'k':
					out = append(out, runeRange{'\u212a', '\u212a'})
				}
			}
		}
	}
	return tidy(out), true
}

// property returns the characters of \p{name}: a general category, the first letter of
// one, or a script.
func property(name string) (charSet, bool) {
	if name == "" || name == "space" || name[0] >= 'a' && name[0] <= 'z' {
		return nil, false // classes of characters.txt that are not properties
	}
	if name == "Cn" || name == "C" {
		var rest charSet
		for _, c := range categoryNames {
			if name == "Cn" || c[0] != 'C' {
				rest = append(rest, namedRanges(c)...)
			}
		}
		return tidy(rest).complement(), true
	}
	if len(name) > 1 {
		ranges := namedRanges(name)
		return tidy(ranges), ranges != nil
	}
	var set charSet
	for _, c := range categoryNames {
		if c[0] == name[0] {
			set = append(set, namedRanges(c)...)
		}
	}
	return tidy(set), set != nil
}
