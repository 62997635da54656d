package tokenizer

import (
	_ "embed"
	"fmt"
	"math/bits"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// charactersText has one line per class of characters: its name and its ranges, measured on
// the reference (testdata/characters.py), which uses several versions of Unicode, none of them
// Go's.
//
//go:embed characters.txt
var charactersText string

// kinds is a set of kinds of characters: one bit per general category, in the order of
// categoryNames, one for unassigned code points (Cn), and one for control characters that are
// white space, so that \s is a union of kinds.
type kinds uint32

var categoryNames = []string{"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po",
	"Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co"}

const (
	kindLu             kinds = 1 << 0
	kindLl             kinds = 1 << 1
	kindLt             kinds = 1 << 2
	kindLm             kinds = 1 << 3
	kindLo             kinds = 1 << 4
	kindCc             kinds = 1 << 25
	kindCn             kinds = 1 << 28
	kindSpacingControl kinds = 1 << 29 // tab, line feed, vertical tab, form feed, carriage return, next line

	letters     kinds = 1<<5 - 1
	marks       kinds = 1<<8 - 1<<5
	numbers     kinds = 1<<11 - 1<<8
	punctuation kinds = 1<<18 - 1<<11
	symbols     kinds = 1<<22 - 1<<18
	separators  kinds = 1<<25 - 1<<22
	spaces            = separators | kindSpacingControl
	anyKind     kinds = 1<<30 - 1
)

// characterTable returns the kind of a code point.
type characterTable struct {
	ascii [128]kinds
	bits  runeTable[uint8] // the number of the kind's bit
}

var characters = sync.OnceValue(func() *characterTable {
	flat := make([]uint8, utf8.MaxRune+1)
	for i := range flat {
		flat[i] = bitNumber(kindCn)
	}
	for i, name := range categoryNames {
		for _, r := range namedRanges(name) {
			for c := r.first; c <= r.last; c++ {
				flat[c] = uint8(i)
			}
		}
	}
	for _, r := range namedRanges("space") {
		for c := r.first; c <= r.last; c++ {
			if flat[c] == bitNumber(kindCc) {
				flat[c] = bitNumber(kindSpacingControl)
			}
		}
	}
	t := &characterTable{bits: newRuneTable(flat)}
	for i := range t.ascii {
		t.ascii[i] = 1 << flat[i]
	}
	return t
})

func bitNumber(k kinds) uint8 { return uint8(bits.TrailingZeros32(uint32(k))) }

// kind returns the one bit of a code point's kind.
func (t *characterTable) kind(r rune) kinds { return 1 << t.bits.at(r) }

// at returns the kind of the character at s[i:] and its length in bytes.
func (t *characterTable) at(s string, i int) (kinds, int) {
	if c := s[i]; c < utf8.RuneSelf {
		return t.ascii[c], 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return t.kind(r), n
}

// run returns the end of the longest run of characters of the kinds in, from i on.
func (t *characterTable) run(s string, i int, in kinds) int {
	for i < len(s) {
		k, n := t.at(s, i)
		if k&in == 0 {
			break
		}
		i += n
	}
	return i
}

// runeRange is a range of code points, both ends included.
type runeRange struct{ first, last rune }

// characterClasses are the lines of characters.txt by name.
var characterClasses = sync.OnceValue(func() map[string][]runeRange {
	classes := map[string][]runeRange{}
	for line := range strings.Lines(charactersText) {
		fields := strings.Fields(line)
		ranges := make([]runeRange, 0, len(fields)-1)
		for _, f := range fields[1:] {
			first, last, found := strings.Cut(f, "-")
			if !found {
				last = first
			}
			ranges = append(ranges, runeRange{codePoint(first), codePoint(last)})
		}
		classes[fields[0]] = ranges
	}
	return classes
})

func codePoint(hex string) rune {
	n, err := strconv.ParseUint(hex, 16, 21)
	if err != nil {
		panic(fmt.Sprintf("characters.txt: %v", err)) // the file is part of the program
	}
	return rune(n)
}

// namedRanges returns a class of characters.txt, nil if there is none of that name.
func namedRanges(name string) []runeRange { return characterClasses()[name] }

// inRanges reports whether r is in sorted ranges.
func inRanges(ranges []runeRange, r rune) bool {
	i := sort.Search(len(ranges), func(i int) bool { return ranges[i].last >= r })
	return i < len(ranges) && ranges[i].first <= r
}
