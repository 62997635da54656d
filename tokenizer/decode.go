package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// decoder joins tokens to text, in steps.
type decoder struct {
	steps []decoding
}

// decoding is a step of decoding: it maps tokens to tokens.
type decoding interface {
	decode(tokens []string) []string
}

func parseDecoder(n node) (*decoder, error) {
	if n.absent() {
		return nil, nil
	}
	kind, err := n.kind()
	if err != nil {
		return nil, err
	}
	switch kind {
	case "ByteLevel":
		_, err := n.object("type", "add_prefix_space", "trim_offsets", "use_regex")
		return &decoder{[]decoding{decodeBytes{}}}, err
	case "ByteFallback":
		_, err := n.object("type")
		return &decoder{[]decoding{decodeFallback{}}}, err
	case "Fuse":
		_, err := n.object("type")
		return &decoder{[]decoding{decodeFuse{}}}, err
	case "Replace":
		r, err := parseReplace(n)
		if err != nil {
			return nil, err
		}
		return &decoder{[]decoding{decodeReplace{r.(replace)}}}, nil
	case "Strip":
		return parseDecodeStrip(n)
	case "Sequence":
		return parseDecoders(n)
	}
	return nil, n.unknownKind("decoder", kind)
}

func parseDecoders(n node) (*decoder, error) {
	options, err := n.object("type", "decoders")
	if err != nil {
		return nil, err
	}
	list, err := options["decoders"].list()
	if err != nil {
		return nil, err
	}
	all := &decoder{}
	for _, item := range list {
		one, err := parseDecoder(item)
		if err != nil {
			return nil, err
		}
		if one == nil {
			return nil, item.refuse("is missing")
		}
		all.steps = append(all.steps, one.steps...)
	}
	return all, nil
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
	for _, step := range t.decoder.steps {
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
	for _, step := range t.decoder.steps {
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

// fallbackByte reads "<0x41>".
func fallbackByte(token string) (byte, bool) {
	if len(token) != 6 || token[:3] != "<0x" || token[5] != '>' {
		return 0, false
	}
	value := 0
	for i, c := range []byte(token[3:5]) {
		switch {
		case c >= '0' && c <= '9':
			value = value<<4 | int(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			value = value<<4 | int(c|0x20-'a'+10)
		case c == '+' && i == 0: // the reference's number parser takes a sign
		default:
			return 0, false
		}
	}
	return byte(value), true
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

// decodeStrip takes up to start of a character off the beginning of each token, and up to
// stop off its end.
type decodeStrip struct {
	content     string
	start, stop int
}

func parseDecodeStrip(n node) (*decoder, error) {
	options, err := n.object("type", "content", "start", "stop")
	if err != nil {
		return nil, err
	}
	var d decodeStrip
	if d.content, err = options["content"].text(); err != nil {
		return nil, err
	}
	if utf8.RuneCountInString(d.content) != 1 {
		return nil, options["content"].refuse("is not one character")
	}
	if err := options["start"].decode(&d.start, "a number"); err != nil {
		return nil, err
	}
	err = options["stop"].decode(&d.stop, "a number")
	return &decoder{[]decoding{d}}, err
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
