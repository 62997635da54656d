package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// aligned is a text that is being normalized. origin, unless nil, holds for each byte its
// position in the text before normalization.
type aligned struct {
	text   string
	origin []int
}

// normalizer is a step of normalization.
type normalizer interface {
	apply(t aligned) aligned
}

func parseNormalizer(n node) normalizer {
	if n.absent() {
		return nil
	}
	kind := n.kind()
	if f, ok := map[string]form{"NFC": formNFC, "NFD": formNFD, "NFKC": formNFKC, "NFKD": formNFKD}[kind]; ok {
		n.object("type")
		return f
	}
	switch kind {
	case "Sequence":
		return normalizers(sequence(n, "normalizers", parseNormalizer))
	case "Prepend":
		return prepend(n.object("type", "prepend")["prepend"].text())
	case "Replace":
		return parseReplace(n)
	case "Strip":
		options := n.object("type", "strip_left", "strip_right")
		return strip{options["strip_left"].flag(), options["strip_right"].flag()}
	case "ByteLevel":
		n.object("type")
		return byteNormalizer{}
	}
	panic(n.unknownKind("normalizer", kind))
}

// normalizers are applied one after the other.
type normalizers []normalizer

func (all normalizers) apply(t aligned) aligned {
	for _, n := range all {
		t = n.apply(t)
	}
	return t
}

// prepend puts a text before each text that is not empty.
type prepend string

func (p prepend) apply(t aligned) aligned {
	if t.text == "" {
		return t
	}
	if t.origin != nil {
		t.origin = append(make([]int, len(p)), t.origin...)
		for i := range len(p) {
			t.origin[i] = t.origin[len(p)]
		}
	}
	t.text = string(p) + t.text
	return t
}

// replace replaces each match of a text or a pattern by content.
type replace struct {
	find    finder
	content string
}

func parseReplace(n node) replace {
	options := n.object("type", "pattern", "content")
	return replace{parsePattern(options["pattern"]), options["content"].text()}
}

func (r replace) apply(t aligned) aligned {
	var b strings.Builder
	var origin []int
	last := 0
	for m := range r.find.all(t.text) {
		b.WriteString(t.text[last:m.Start])
		b.WriteString(r.content)
		if t.origin != nil {
			origin = append(origin, t.origin[last:m.Start]...)
			for range len(r.content) {
				origin = append(origin, t.origin[min(m.Start, len(t.origin)-1)])
			}
		}
		last = m.End
	}
	if last == 0 && b.Len() == 0 {
		return t
	}
	b.WriteString(t.text[last:])
	if t.origin != nil {
		origin = append(origin, t.origin[last:]...)
	}
	return aligned{b.String(), origin}
}

// strip removes white space at the beginning, the end or both.
type strip struct{ left, right bool }

func (s strip) apply(t aligned) aligned {
	start, end := 0, len(t.text)
	if s.left {
		start = characters().run(t.text, 0, spaces)
	}
	if s.right {
		end = trimRight(t.text, start)
	}
	if t.origin != nil {
		t.origin = t.origin[start:end]
	}
	t.text = t.text[start:end]
	return t
}

// trimRight returns where the white space at the end of s begins, not before start.
func trimRight(s string, start int) int {
	end := len(s)
	for end > start {
		r, n := utf8.DecodeLastRuneInString(s[:end])
		if characters().kind(r)&spaces == 0 {
			break
		}
		end -= n
	}
	return end
}

// byteNormalizer writes bytes as characters.
type byteNormalizer struct{}

func (byteNormalizer) apply(t aligned) aligned {
	if t.origin != nil {
		var origin []int
		for i := range len(t.text) {
			for range utf8.RuneLen(byteChars[t.text[i]]) {
				origin = append(origin, t.origin[i])
			}
		}
		t.origin = origin
	}
	t.text = string(appendByteChars(nil, t.text))
	return t
}

// alignParts joins characters to a text.
func alignParts(before aligned, parts []part) aligned {
	text := make([]byte, 0, len(before.text)+8)
	var origin []int
	for _, p := range parts {
		start := len(text)
		text = utf8.AppendRune(text, p.r)
		if before.origin != nil {
			for range len(text) - start {
				origin = append(origin, before.origin[p.origin])
			}
		}
	}
	return aligned{string(text), origin}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
