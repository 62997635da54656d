package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// aligned is a text that is being normalized. Where origin is not nil it has the place in
// the text before normalization that each byte comes from.
type aligned struct {
	text   string
	origin []int
}

// normalizer is a step of normalization.
type normalizer interface {
	apply(t aligned) aligned
}

func parseNormalizer(n node) (normalizer, error) {
	if n.absent() {
		return nil, nil
	}
	kind, err := n.kind()
	if err != nil {
		return nil, err
	}
	if f, ok := map[string]form{"NFC": formNFC, "NFD": formNFD, "NFKC": formNFKC, "NFKD": formNFKD}[kind]; ok {
		_, err := n.object("type")
		return f, err
	}
	switch kind {
	case "Sequence":
		return parseNormalizers(n)
	case "Prepend":
		return parsePrepend(n)
	case "Replace":
		return parseReplace(n)
	case "Strip":
		return parseStrip(n)
	case "ByteLevel":
		_, err := n.object("type")
		return byteNormalizer{}, err
	}
	return nil, n.unknownKind("normalizer", kind)
}

// normalizers are applied one after the other.
type normalizers []normalizer

func parseNormalizers(n node) (normalizer, error) {
	options, err := n.object("type", "normalizers")
	if err != nil {
		return nil, err
	}
	list, err := options["normalizers"].list()
	if err != nil {
		return nil, err
	}
	var all normalizers
	for _, item := range list {
		one, err := parseNormalizer(item)
		if err != nil {
			return nil, err
		}
		if one == nil {
			return nil, item.refuse("is missing")
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all, nil
}

func (all normalizers) apply(t aligned) aligned {
	for _, n := range all {
		t = n.apply(t)
	}
	return t
}

// prepend puts a text before each text that is not empty.
type prepend string

func parsePrepend(n node) (normalizer, error) {
	options, err := n.object("type", "prepend")
	if err != nil {
		return nil, err
	}
	s, err := options["prepend"].text()
	return prepend(s), err
}

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

// replace puts content in the place of a text or of what a pattern matches.
type replace struct {
	find    finder
	content string
}

func parseReplace(n node) (normalizer, error) {
	options, err := n.object("type", "pattern", "content")
	if err != nil {
		return nil, err
	}
	find, err := parsePattern(options["pattern"])
	if err != nil {
		return nil, err
	}
	content, err := options["content"].text()
	return replace{find, content}, err
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

// strip takes white space away.
type strip struct{ left, right bool }

func parseStrip(n node) (normalizer, error) {
	options, err := n.object("type", "strip_left", "strip_right")
	if err != nil {
		return nil, err
	}
	left, err := options["strip_left"].flag()
	if err != nil {
		return nil, err
	}
	right, err := options["strip_right"].flag()
	return strip{left, right}, err
}

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

// alignParts puts characters together to a text.
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
