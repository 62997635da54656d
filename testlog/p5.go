package testlog

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"relabel"
)

// p5Failure matches the number before a failed test.
var p5Failure = regexp.MustCompile(`^\s*\d+\)`)

// maxP5Name limits the characters of a name: the reference reads no longer ones.
const maxP5Name = 1000

// parseP5 reads the log of Mocha in a browser, which names only failed tests: a number, and the
// titles of the groups and the test, each on its own line, indented further, up to a colon.
// Blocks of JSON and XML, which the code under test prints, are left out.
func parseP5(log []byte) Outcomes {
	o := Outcomes{}
	text := withoutXML(withoutJSON(plainText(log)))
	begin, end := runeCount{text: text}, runeCount{text: text}
	colon := 0 // the first at the number or after it; the length of the text without one
	for at := 0; at < len(text); at = lineEnd(text, at) {
		number := p5Failure.FindStringIndex(text[at:lineEnd(text, at)])
		if number == nil {
			continue
		}
		at += number[1]
		if colon < at {
			colon = colonAfter(text, at)
		}
		if colon == len(text) {
			break
		}
		if end.before(colon)-begin.before(at) > maxP5Name {
			continue
		}
		if titles := strings.Split(text[at:colon], "\n"); indentedMore(titles) {
			for i := range titles {
				titles[i] = trim(titles[i])
			}
			o.add(strings.Join(titles, ":"), relabel.TestFailed)
		}
		at = colon
	}
	return o
}

// lineEnd is the place after the line in which at is.
func lineEnd(text string, at int) int {
	if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(text)
}

// colonAfter is the place of the first colon from at on; the length of the text without one.
func colonAfter(text string, at int) int {
	if n := strings.IndexByte(text[at:], ':'); n >= 0 {
		return at + n
	}
	return len(text)
}

// runeCount counts the characters before places of a text, each place after the one before it.
type runeCount struct {
	text      string
	at, runes int
}

func (c *runeCount) before(at int) int {
	c.runes += utf8.RuneCountInString(c.text[c.at:at])
	c.at = at
	return c.runes
}

// indentedMore reports whether each line is indented more than the one before it.
func indentedMore(lines []string) bool {
	last := 0
	for _, line := range lines {
		depth := indent(line)
		if depth <= last {
			return false
		}
		last = depth
	}
	return true
}

// withoutJSON leaves out objects and lists that are printed over several lines or on one.
func withoutJSON(text string) string {
	var kept strings.Builder
	object, list := false, false
	for line := range strings.SplitSeq(text, "\n") {
		end := trimRight(line)
		switch {
		case strings.HasSuffix(end, "{"):
			object = true
		case strings.HasSuffix(end, "["):
			list = true
		case end == "}" && object:
			object = false
		case end == "]" && list:
			list = false
		case object || list,
			strings.HasPrefix(end, "{") && strings.HasSuffix(end, "}"),
			strings.HasPrefix(end, "[") && strings.HasSuffix(end, "]"):
		default:
			kept.WriteString(line + "\n")
		}
	}
	return kept.String()
}

var xmlTag = regexp.MustCompile(`<(/?)([\pL\pN_]+)>`)

// withoutXML leaves out each element from its tag to the next end tag of its name. If more tags of
// this name are between them, they begin elements again. A tag without a later end tag stays.
func withoutXML(text string) string {
	tags := xmlTag.FindAllStringSubmatchIndex(text, -1)
	ends := map[string]int{} // the number of end tags that are still to come
	for _, t := range tags {
		if t[2] < t[3] {
			ends[text[t[4]:t[5]]]++
		}
	}
	var kept strings.Builder
	from, open, name := 0, 0, "" // open elements of a name; without one, the text from from on is kept
	for _, t := range tags {
		tag, isEnd := text[t[4]:t[5]], t[2] < t[3]
		if isEnd {
			ends[tag]--
		}
		switch {
		case open == 0 && !isEnd && ends[tag] > 0:
			kept.WriteString(text[from:t[0]])
			open, name = 1, tag
		case open > 0 && tag == name && !isEnd:
			open++
		case open > 0 && tag == name:
			if open--; open == 0 || ends[tag] == 0 {
				kept.WriteString(strings.Repeat("<"+tag+">", open))
				open, from = 0, t[1]
			}
		}
	}
	return kept.String() + text[from:]
}
