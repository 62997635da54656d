package tokenizer

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// decoder joins tokens to text, in steps; nil: with spaces between them.
type decoder []decoding

// decoding is a step of decoding: it maps tokens to tokens.
type decoding interface {
	decode(tokens []string) []string
}

func parseDecoder(n node) decoder {
	if n.absent() {
		return nil
	}
	switch kind := n.kind(); kind {
	case "ByteLevel":
		n.object("type", "add_prefix_space", "trim_offsets", "use_regex")
		return decoder{decodeBytes{}}
	case "ByteFallback":
		n.object("type")
		return decoder{decodeFallback{}}
	case "Fuse":
		n.object("type")
		return decoder{decodeFuse{}}
	case "Replace":
		return decoder{decodeReplace{parseReplace(n)}}
	case "Strip":
		return decoder{parseDecodeStrip(n)}
	case "Sequence":
		return append(decoder{}, slices.Concat(sequence(n, "decoders", parseDecoder)...)...) // not nil
	default:
		panic(n.unknownKind("decoder", kind))
	}
}

// Decode returns the text of IDs, including special tokens. Bytes that remain invalid UTF-8
// become U+FFFD; IDs without a token are skipped.
func (t *Tokenizer) Decode(ids []int32) string {
	tokens := make([]string, 0, len(ids))
	for _, id := range ids {
		if s, ok := t.written(id); ok {
			tokens = append(tokens, s)
		}
	}
	if t.decoder == nil {
		return strings.Join(tokens, " ")
	}
	for _, step := range t.decoder {
		tokens = step.decode(tokens)
	}
	return strings.Join(tokens, "")
}

// written returns a token as the vocabulary writes it.
func (t *Tokenizer) written(id int32) (string, bool) {
	if w, ok := t.added.written[id]; ok {
		return w, true
	}
	if a, ok := t.added.tokens[id]; ok {
		return a.Content, true
	}
	s, ok := t.model.tokens[id]
	return s, ok
}

// AppendBytes appends the bytes of one token, which need not be whole characters; nothing for
// an ID without a token.
func (t *Tokenizer) AppendBytes(dst []byte, id int32) []byte {
	s, ok := t.written(id)
	if !ok || t.decoder == nil {
		return append(dst, s...)
	}
	for _, step := range t.decoder {
		switch step := step.(type) {
		case decodeBytes:
			return step.append(dst, s)
		case decodeFallback:
			if b, ok := fallbackByte(s); ok {
				return append(dst, b)
			}
		case decodeReplace:
			s = step.replace.apply(aligned{text: s}).text
		}
	}
	return append(dst, s...)
}

// decodeBytes turns characters that stand for bytes back into them.
type decodeBytes struct{}

func (d decodeBytes) decode(tokens []string) []string {
	var raw []byte
	for _, t := range tokens {
		raw = d.append(raw, t)
	}
	return []string{replaceBroken(raw)}
}

// append appends the bytes of a token; one that holds another character as it is.
func (decodeBytes) append(dst []byte, token string) []byte {
	dst, ok := appendCharBytes(dst, token)
	if !ok {
		dst = append(dst, token...)
	}
	return dst
}

// replaceBroken replaces invalid UTF-8 by U+FFFD: one for each maximal incomplete character,
// however many bytes it has (The Unicode Standard, 3.9).
func replaceBroken(raw []byte) string {
	if utf8.Valid(raw) {
		return string(raw)
	}
	var b strings.Builder
	for len(raw) > 0 {
		r, n := utf8.DecodeRune(raw)
		if r == utf8.RuneError && n == 1 {
			n = brokenPrefix(raw)
		}
		b.WriteRune(r)
		raw = raw[n:]
	}
	return b.String()
}

// brokenPrefix returns the length of the longest part of raw that begins a character.
func brokenPrefix(raw []byte) int {
	n := 1
	for n < len(raw) && n < utf8.UTFMax && !utf8.FullRune(raw[:n]) && raw[n]&0xc0 == 0x80 {
		if n++; utf8.FullRune(raw[:n]) && !utf8.Valid(raw[:n]) {
			return n - 1
		}
	}
	return n
}

// decodeFallback turns "<0x41>" tokens into the characters that their bytes make.
type decodeFallback struct{}

// fallbackByte parses a token such as "<0x41>".
func fallbackByte(token string) (byte, bool) {
	if len(token) != 6 || token[:3] != "<0x" || token[5] != '>' {
		return 0, false
	}
	value, err := strconv.ParseUint(strings.TrimPrefix(token[3:5], "+"), 16, 8) // the reference's number parser accepts a sign
	return byte(value), err == nil
}

func (decodeFallback) decode(tokens []string) []string {
	var out []string
	var raw []byte
	flush := func() {
		if utf8.Valid(raw) {
			out = append(out, string(raw))
		} else {
			for range raw {
				out = append(out, "\uFFFD")
			}
		}
		raw = raw[:0]
	}
	for _, t := range tokens {
		if b, ok := fallbackByte(t); ok {
			raw = append(raw, b)
			continue
		}
		if len(raw) > 0 {
			flush()
		}
		out = append(out, t)
	}
	if len(raw) > 0 {
		flush()
	}
	return out
}

// decodeFuse makes one token of all.
type decodeFuse struct{}

func (decodeFuse) decode(tokens []string) []string { return []string{strings.Join(tokens, "")} }

// decodeReplace replaces in each token.
type decodeReplace struct{ replace }

func (d decodeReplace) decode(tokens []string) []string {
	for i, t := range tokens {
		tokens[i] = d.replace.apply(aligned{text: t}).text
	}
	return tokens
}

// decodeStrip removes up to start occurrences of a character from the beginning of each token,
// and up to stop from its end.
type decodeStrip struct {
	content     string
	start, stop int
}

func parseDecodeStrip(n node) (d decodeStrip) {
	options := n.object("type", "content", "start", "stop")
	d.content = options["content"].text()
	if utf8.RuneCountInString(d.content) != 1 {
		panic(options["content"].refuse("is not one character"))
	}
	options["start"].decode(&d.start, "a number")
	options["stop"].decode(&d.stop, "a number")
	return d
}

func (d decodeStrip) decode(tokens []string) []string {
	for i, t := range tokens {
		for range d.start {
			t = strings.TrimPrefix(t, d.content)
		}
		for range d.stop {
			t = strings.TrimSuffix(t, d.content)
		}
		tokens[i] = t
	}
	return tokens
}
