package tokenizer

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// normalizationText has the combining classes and decompositions of the reference
// (testdata/normalization.py), those of Unicode 9. golang.org/x/text differs in 243 newer
// characters, and inserts a joiner after thirty combining marks in a row.
//
//go:embed normalization.txt
var normalizationText string

// composition has the tables for composing and decomposing.
type composition struct {
	canonical  map[rune][]rune
	compatible map[rune][]rune // if different from canonical
	pairs      map[[2]rune]rune
	traits     runeTable[uint16]
}

// The traits of a character are its canonical combining class, and a bit for each form in which it
// may not occur, or not in every context.
const traitClass = 0xff

func (f form) odd() uint16 { return 0x100 << f }

var compositions = sync.OnceValue(func() *composition {
	c := &composition{canonical: map[rune][]rune{}, compatible: map[rune][]rune{}, pairs: map[[2]rune]rune{}}
	traits := make([]uint16, utf8.MaxRune+1)
	excluded := map[rune]bool{}
	for line := range strings.Lines(normalizationText) {
		fields := strings.Fields(line)
		switch fields[0] {
		case "class":
			value, err := strconv.ParseUint(fields[1], 10, 8)
			if err != nil {
				panic("normalization.txt: " + err.Error()) // the file is part of the program
			}
			for _, f := range fields[2:] {
				traits[codePoint(f)] = uint16(value)
			}
		case "canonical":
			readDecompositions(c.canonical, fields[1:])
		case "compatible":
			readDecompositions(c.compatible, fields[1:])
		case "excluded":
			for _, f := range fields[1:] {
				excluded[codePoint(f)] = true
			}
		}
	}
	c.pair(excluded)
	c.markOdd(traits, excluded)
	c.traits = newRuneTable(traits)
	return c
})

func readDecompositions(into map[rune][]rune, fields []string) {
	for _, f := range fields {
		whole, parts, _ := strings.Cut(f, "=")
		var runes []rune
		for _, p := range strings.Split(parts, ".") {
			runes = append(runes, codePoint(p))
		}
		into[codePoint(whole)] = runes
	}
}

// pair computes the pairs of characters that compose: the composition of all but the last character
// of a decomposition, and the last.
func (c *composition) pair(excluded map[rune]bool) {
	byParts := map[string]rune{}
	for whole, parts := range c.canonical {
		if !excluded[whole] {
			byParts[string(parts)] = whole
		}
	}
	for whole, parts := range c.canonical {
		if excluded[whole] {
			continue
		}
		first, last := parts[0], parts[len(parts)-1]
		if len(parts) > 2 {
			first = byParts[string(parts[:len(parts)-1])]
		}
		c.pairs[[2]rune{first, last}] = whole
	}
}

// markOdd marks the characters that make done return false.
func (c *composition) markOdd(traits []uint16, excluded map[rune]bool) {
	mark := func(r rune, forms ...form) {
		for _, f := range forms {
			traits[r] |= f.odd()
		}
	}
	for whole := range c.canonical {
		mark(whole, formNFD, formNFKD)
		if excluded[whole] {
			mark(whole, formNFC, formNFKC)
		}
	}
	for whole := range c.compatible {
		mark(whole, formNFKD, formNFKC)
	}
	for pair := range c.pairs {
		mark(pair[1], formNFC, formNFKC)
	}
	for r := rune(hangulS); r < hangulS+hangulSs; r++ {
		mark(r, formNFD, formNFKD)
	}
	for r := rune(hangulV); r < hangulT+hangulTs; r++ { // may compose with what is before it
		mark(r, formNFC, formNFKC)
	}
}

// form is one of the four normalization forms.
type form int

const (
	formNFC form = iota
	formNFD
	formNFKC
	formNFKD
)

func (f form) composes() bool   { return f == formNFC || f == formNFKC }
func (f form) compatible() bool { return f == formNFKC || f == formNFKD }

// Hangul syllables are composed by arithmetic (The Unicode Standard, section 3.12).
const (
	hangulS, hangulL, hangulV, hangulT     = 0xac00, 0x1100, 0x1161, 0x11a7
	hangulLs, hangulVs, hangulTs, hangulSs = 19, 21, 28, 11172
)

func isHangul(r rune) bool { return r >= hangulS && r < hangulS+hangulSs }

// done reports whether a text is known to be in form already. A wrong false only costs time.
func (f form) done(c *composition, s string) bool {
	last := uint16(0)
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			last = 0
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		t := c.traits.at(r)
		if t == 0 {
			last = 0
			continue
		}
		class := t & traitClass
		if t&f.odd() != 0 || class != 0 && class < last {
			return false
		}
		last = class
	}
	return true
}

// part is a character of the result with its origin in the text.
type part struct {
	r      rune
	class  uint16
	origin int
}

// apply brings a text into form.
func (f form) apply(t aligned) aligned {
	if isASCII(t.text) {
		return t
	}
	c := compositions()
	if f.done(c, t.text) {
		return t
	}
	parts := f.decompose(c, t)
	if f.composes() {
		parts = c.compose(parts)
	}
	return alignParts(t, parts)
}

func (f form) decompose(c *composition, t aligned) []part {
	parts := make([]part, 0, len(t.text))
	for i, r := range t.text {
		start := len(parts)
		parts = f.appendDecomposed(c, parts, r)
		for k := start; k < len(parts); k++ {
			parts[k].origin = i
			parts[k].class = c.traits.at(parts[k].r) & traitClass
		}
	}
	for i := 0; i < len(parts); i++ { // canonical order
		if parts[i].class == 0 {
			continue
		}
		start := i
		for i < len(parts) && parts[i].class != 0 {
			i++
		}
		slices.SortStableFunc(parts[start:i], func(a, b part) int { return int(a.class) - int(b.class) })
	}
	return parts
}

func (f form) appendDecomposed(c *composition, parts []part, r rune) []part {
	if isHangul(r) {
		s := r - hangulS
		parts = append(parts, part{r: hangulL + s/(hangulVs*hangulTs)}, part{r: hangulV + s%(hangulVs*hangulTs)/hangulTs})
		if s%hangulTs != 0 {
			parts = append(parts, part{r: hangulT + s%hangulTs})
		}
		return parts
	}
	runes, ok := c.compatible[r]
	if !ok || !f.compatible() {
		runes, ok = c.canonical[r]
	}
	if !ok {
		return append(parts, part{r: r})
	}
	for _, d := range runes {
		parts = append(parts, part{r: d})
	}
	return parts
}

// compose joins each character with the last starter unless a character between them blocks it.
func (c *composition) compose(parts []part) []part {
	starter, last := -1, uint16(0) // last is the class of the character before, within the starter's reach
	blocked := false
	n := 0
	for _, p := range parts {
		if starter >= 0 && (!blocked || last < p.class) {
			if whole, ok := c.composed(parts[starter].r, p.r); ok {
				parts[starter].r = whole
				continue
			}
		}
		if p.class == 0 {
			starter, blocked = n, false
		} else {
			blocked = true
		}
		last = p.class
		parts[n] = p
		n++
	}
	return parts[:n]
}

func (c *composition) composed(a, b rune) (rune, bool) {
	switch {
	case a >= hangulL && a < hangulL+hangulLs && b >= hangulV && b < hangulV+hangulVs:
		return hangulS + ((a-hangulL)*hangulVs+b-hangulV)*hangulTs, true
	case isHangul(a) && (a-hangulS)%hangulTs == 0 && b > hangulT && b < hangulT+hangulTs:
		return a + b - hangulT, true
	}
	whole, ok := c.pairs[[2]rune{a, b}]
	return whole, ok
}
