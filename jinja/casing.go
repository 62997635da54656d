package jinja

import (
	"slices"
	"unicode"
)

// The cases and classes of characters in Python's str.

func isLowerRune(c rune) bool { return unicode.IsLower(c) || unicode.Is(unicode.Other_Lowercase, c) }
func isUpperRune(c rune) bool { return unicode.IsUpper(c) || unicode.Is(unicode.Other_Uppercase, c) }
func isCased(c rune) bool     { return isLowerRune(c) || isUpperRune(c) || unicode.IsTitle(c) }

// ignorable are the case-ignorable characters outside of the categories in isCaseIgnorable.
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

// appendLower appends the lower case of rs[i]; that of a final sigma differs.
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

// mapCase converts the characters of a text; do appends the conversion of rs[i].
func mapCase(s string, do func(dst []byte, rs []rune, i int) []byte) string {
	var out []byte
	rs := runes(s)
	for i := range rs {
		out = do(out, rs, i)
	}
	return string(out)
}

func upper(s string) string {
	return mapCase(s, func(dst []byte, rs []rune, i int) []byte { return appendUpper(dst, rs[i]) })
}

func lower(s string) string { return mapCase(s, appendLower) }

// titleUnless makes a function that converts a character to title case, unless inWord is true for its
// position.
func titleUnless(inWord func(rs []rune, i int) bool) func(string) string {
	return func(s string) string {
		return mapCase(s, func(dst []byte, rs []rune, i int) []byte {
			if inWord(rs, i) {
				return appendLower(dst, rs, i)
			}
			return appendTitle(dst, rs[i])
		})
	}
}

var capitalize = titleUnless(func(_ []rune, i int) bool { return i > 0 })

// titleCase is Python's str.title; the filter title differs.
var titleCase = titleUnless(func(rs []rune, i int) bool { return i > 0 && isCased(rs[i-1]) })

// each reports whether a text is not empty and all its characters belong to a class.
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

func isDecimal(c rune) bool { return unicode.Is(unicode.Nd, c) }
func isDigit(c rune) bool {
	return isDecimal(c) || slices.ContainsFunc(digitsNotDecimal, func(r [2]rune) bool { return c >= r[0] && c <= r[1] })
}
