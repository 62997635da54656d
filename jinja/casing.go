package jinja

import (
	"slices"
	"unicode"
)

// The case and the classes of characters as Python's str has them.

func isLowerRune(c rune) bool { return unicode.IsLower(c) || unicode.Is(unicode.Other_Lowercase, c) }
func isUpperRune(c rune) bool { return unicode.IsUpper(c) || unicode.Is(unicode.Other_Uppercase, c) }
func isCased(c rune) bool     { return isLowerRune(c) || isUpperRune(c) || unicode.IsTitle(c) }

// ignorable are the characters, besides those of some categories, that case looks past.
var ignorable = []rune("'.:·\u0387\u055F\u05F4\u2018\u2019\u2024\u2027\uFE13\uFE52\uFE55\uFF07\uFF0E\uFF1A")

func isCaseIgnorable(c rune) bool {
	return unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) || slices.Contains(ignorable, c)
}

func appendUpper(dst []byte, c rune) []byte {
	if s, ok := longUpper[c]; ok {
		return append(dst, s...)
	}
	return appendRune(dst, unicode.ToUpper(c))
}

func appendTitle(dst []byte, c rune) []byte {
	if s, ok := longTitle[c]; ok {
		return append(dst, s...)
	}
	return appendRune(dst, unicode.ToTitle(c))
}

// appendLower appends the lower case of rs[i]; a final sigma has one of its own.
func appendLower(dst []byte, rs []rune, i int) []byte {
	switch rs[i] {
	case 'İ':
		return append(dst, "i\u0307"...)
	case 'Σ':
		if isFinal(rs, i) {
			return append(dst, "ς"...)
		}
	}
	return appendRune(dst, unicode.ToLower(rs[i]))
}

func isFinal(rs []rune, i int) bool {
	j := i - 1
	for j >= 0 && isCaseIgnorable(rs[j]) {
		j--
	}
	if j < 0 || !isCased(rs[j]) {
		return false
	}
	for j = i + 1; j < len(rs) && isCaseIgnorable(rs[j]); {
		j++
	}
	return j == len(rs) || !isCased(rs[j])
}

func upper(s string) string {
	var out []byte
	for _, c := range runes(s) {
		out = appendUpper(out, c)
	}
	return string(out)
}

func lower(s string) string {
	var out []byte
	rs := runes(s)
	for i := range rs {
		out = appendLower(out, rs, i)
	}
	return string(out)
}

func capitalize(s string) string {
	var out []byte
	rs := runes(s)
	for i, c := range rs {
		if i == 0 {
			out = appendTitle(out, c)
			continue
		}
		out = appendLower(out, rs, i)
	}
	return string(out)
}

// titleCase is Python's str.title; the filter title is another.
func titleCase(s string) string {
	var out []byte
	rs := runes(s)
	after := false
	for i, c := range rs {
		if after {
			out = appendLower(out, rs, i)
		} else {
			out = appendTitle(out, c)
		}
		after = isCased(c)
	}
	return string(out)
}

// each reports whether a text is not empty and all its characters are of a class.
func each(class func(rune) bool) func(string) bool {
	return func(s string) bool {
		for _, c := range runes(s) {
			if !class(c) {
				return false
			}
		}
		return s != ""
	}
}

func inRanges(ranges [][2]rune, c rune) bool {
	_, ok := slices.BinarySearchFunc(ranges, c, func(r [2]rune, c rune) int {
		switch {
		case c > r[1]:
			return -1
		case c < r[0]:
			return 1
		}
		return 0
	})
	return ok
}

func isDecimal(c rune) bool { return unicode.Is(unicode.Nd, c) }
func isDigit(c rune) bool   { return isDecimal(c) || inRanges(digitsNotDecimal, c) }
