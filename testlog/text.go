package testlog

import (
	"regexp"
	"strings"
	"unicode"
)

// isSpace reports whether Python's str.strip removes a character, as the reference does.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// trim removes white space from both ends.
func trim(s string) string { return strings.TrimFunc(s, isSpace) }

// trimRight removes white space from the end.
func trimRight(s string) string { return strings.TrimRightFunc(s, isSpace) }

// fields splits a text at white space.
func fields(s string) []string { return strings.FieldsFunc(s, isSpace) }

// indent is the number of white-space characters before the text of a line.
func indent(line string) int {
	n := 0
	for _, r := range line {
		if !isSpace(r) {
			break
		}
		n++
	}
	return n
}

// oneLine replaces each run of white space by a space.
func oneLine(s string) string { return strings.Join(fields(s), " ") }

// afterEach returns the parts of a text after each separator.
func afterEach(s, separator string) []string { return strings.Split(s, separator)[1:] }

// eachMatch returns the matches of a pattern with their groups, at most maxOutcomes.
func eachMatch(pattern *regexp.Regexp, s string) [][]string {
	return pattern.FindAllStringSubmatch(s, maxOutcomes)
}

// afterEachMatch returns the parts of a text after each match of a pattern.
func afterEachMatch(pattern *regexp.Regexp, s string) []string { return pattern.Split(s, -1)[1:] }
