package tokenizer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf8"
)

// scannedPatterns are all patterns that have a scanner.
var scannedPatterns = map[string]string{"gpt2": gpt2Pattern, "cl100k": cl100kPattern, "qwen2": qwen2Pattern, "qwen3.5": qwen35Pattern,
	"o200k": o200kPattern, "tekken": tekkenPattern, "digits": digitsPattern, "cjk": cjkPattern, "deepseek": deepSeekWords}

// matchedPatterns are patterns for the matcher: those of tokenizers that have no scanner,
// and each construct that it knows.
var matchedPatterns = []string{
	// Kimi K2, with an intersection of classes; DeepSeek Coder; StarCoder and Falcon; CodeGen's kin in tiktoken's form.
	`[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
	`[\r\n]`, `\s?\p{L}+`, `\s?\p{P}+`, `[一-龥ࠀ-一가-퟿]+`, `[0-9][0-9][0-9]`, `\d{1,3}(?=(?:\d{3})*\b)`,
	`'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s`,
	`(?:\r?\n)+(?!\r?\n)`, `[^(\s|[.,!?…。，、।۔،])]+`, ` ?[^(\s|[.,!?…。，、।۔،])]+`,
	// Constructs one by one.
	`^\s+|\w+$`, `\A\w|\w\z|\W\Z`, `\bk\w*\B`, `(?<=[a-z])\p{Lu}`, `(?<!\s)\S`, `(?>a+|b)c?`, `a*?b`, `(?:ab){2,3}`, `(?:ab|a)*b`, `x{2,}|y{,2}z`, `.+`,
	`\P{L}+`, `\p{^N}+`, `[\w&&[^\d_]]+`, `[^\p{Han}\p{Hiragana}\p{Katakana}]+`, `\x41|\x{1F600}|[\x{1F601}-\x{1F64F}]`, `\D+`, `[\d\-.]+`, `[a\]\\]+`, `\s*`, `(?i:k|[a-c]+|WE)`,
	`\p{Cn}+`, `\p{C}+`, `\p{Zs}|\p{Sk}`, `(a|ab)(c|bcd)`, `(?:a??b)+`, `[-a]+|[a-]+`, `(?i:x(?-i:y)z)`, `\t|\f|\v|\a|\e`,
}

// someText makes a text out of what patterns tell apart.
func someText(r *rand.Rand) string {
	var s []byte
	for range r.IntN(24) {
		s = append(s, fragment(r)...)
	}
	return string(s)
}

var fragments = []string{" ", "  ", "\n", "\r\n", "\t", "\r", "\v", "\f", "\u0085", "\u00a0", "\u2028", "\u3000", "\u200b", "\u200d", "'", "'s", "'S", "'ſ", "'T", "'re", "'VE", "'ll", "'Ll", "'d", "’s",
	"a", "ab", "abc", "bcd", "k", "K", "\u212a", "ſ", "WE", "we", "x", "y", "z", "Zz", "camelCase", "HTTPServer", "é", "e\u0301", "ǅ", "ʰ", "ß", "ﬁ", "ﬆ", "İ", "ı",
	"0", "12", "345", "6789", "½", "Ⅷ", "٣", "๓", "߁", "𝟙", "_", "-", ".", "...", "/", "//", "!", "?!", "(", ")", "[]", "{}", "=>", "==", "+", "$", "^", "`", "~", "|", "<", ">", "\\", "\"", "@", "#", "%", "&", "*", ",", ":", ";",
	"漢字", "ひらがな", "カタカナ", "ー", "한국어", "ᄒ", "ᅡ", "ᆫ", "العربية", "ـ", "עברית", "ไทย", "ำ", "हिन्दी", "Ελληνικά", "Кириллица", "👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "☺️", "€", "©", "\u0300", "\u0338", "\u0345", "\u20dd", "Ġ", "Ċ", "▁", "\ufffd", "\ue000", "\U0010ffff", "\x00", "\x7f", "\u00ad"}

// fragment returns a short text, or a character from anywhere in Unicode.
func fragment(r *rand.Rand) string {
	switch r.IntN(8) {
	case 0:
		return string(someRune(r))
	case 1:
		word := make([]byte, 1+r.IntN(12))
		for i := range word {
			word[i] = byte('a' + r.IntN(26))
		}
		return string(word)
	}
	return fragments[r.IntN(len(fragments))]
}

func someRune(r *rand.Rand) rune {
	for {
		c := rune(r.IntN([...]int{0x80, 0x800, 0x3000, 0x10000, 0x20000, utf8.MaxRune + 1}[r.IntN(6)]))
		if utf8.ValidRune(c) {
			return c
		}
	}
}

func spansOf(f finder, text string) [][2]int {
	spans := [][2]int{}
	for s := range f.all(text) {
		spans = append(spans, [2]int{s.Start, s.End})
	}
	return spans
}

// withoutEmpty leaves empty matches out, which the reference's splits do not show.
func withoutEmpty(spans [][2]int) [][2]int {
	return slices.DeleteFunc(slices.Clone(spans), func(s [2]int) bool { return s[0] == s[1] })
}

func TestScannersMatchAsTheirPatternsDo(t *testing.T) {
	for name, source := range scannedPatterns {
		t.Run(name, func(t *testing.T) {
			scan := scannerOf(source)
			compiled, err := compilePattern(source)
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, 2))
			for range 20_000 {
				text := someText(r)
				if got, want := spansOf(scan, text), spansOf(compiled, text); !slices.Equal(got, want) {
					t.Fatalf("in %q the scanner finds %v, the pattern %v", text, got, want)
				}
			}
		})
	}
}

func TestPatternsMatchAsInTheReference(t *testing.T) {
	ref := startReference(t)
	sources := slices.Clone(matchedPatterns)
	for _, source := range scannedPatterns {
		sources = append(sources, source)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, source := range sources {
		compiled, err := compilePattern(source)
		if err != nil {
			t.Errorf("%q: %v", source, err)
			continue
		}
		texts := make([]string, 600)
		for i := range texts {
			texts[i] = someText(r)
		}
		var want [][][2]int
		if err := ref.ask(map[string]any{"pattern": source, "find": texts}, &want); err != nil {
			t.Errorf("%q: the reference does not take it: %v", source, err)
			continue
		}
		for i, text := range texts {
			if got := withoutEmpty(spansOf(compiled, text)); !slices.Equal(got, want[i]) {
				t.Errorf("%q in %q: %v, the reference finds %v", source, text, got, want[i])
				break
			}
		}
	}
}

func TestCaseFoldingKnowsEachCharacterOfTheReference(t *testing.T) {
	ref := startReference(t)
	var every []rune
	for c := rune(0); c <= utf8.MaxRune; c++ {
		if utf8.ValidRune(c) {
			every = append(every, c)
		}
	}
	for c := 'a'; c <= 'z'; c++ {
		source := fmt.Sprintf("(?i:%c)", c)
		compiled, err := compilePattern(source)
		if err != nil {
			t.Fatal(err)
		}
		var want [][][2]int
		if err := ref.ask(map[string]any{"pattern": source, "find": []string{string(every[:0x30000])}}, &want); err != nil {
			t.Fatal(err)
		}
		if got := spansOf(compiled, string(every[:0x30000])); !slices.Equal(got, want[0]) {
			t.Errorf("%s: %v, the reference finds %v", source, got, want[0])
		}
	}
}

func TestUnknownPatternsAreRefused(t *testing.T) {
	for _, source := range []string{
		`(?P<name>a)`, `(?<name>a)`, `\1`, `\k<a>`, `\h`, `\R`, `\X`, `\K`, `(?x: a)`, `(?i)a`, `(?m:.)`, `a{2}?`, `a**`, `(?i:ß)`, `(?i:ss)`, `(?i:stop)`, `(?i:first)`, `(?i:[^a])`, `(?i:[é])`,
		`[[:alpha:]]`, `\p{Klingon}`, `\p{space}`, `\p{patternword}`, `[]a]`, `[a`, `(a`, `a)`, `*a`, `(?<=ab)c`, `(?:a*)*`, `(?:|a)+`, `a{1,100000}`, `{2}`, `a{x}`, `\`, `\pL`, `(?~a)`, `[z-a]`, `\Ga`, `\u0041`, `\x80`,
	} {
		if _, err := compilePattern(source); err == nil {
			t.Errorf("%q is taken", source)
		}
	}
}

// FuzzScanners looks for texts in which a scanner and its pattern differ.
func FuzzScanners(f *testing.F) {
	compiled := map[string]finder{}
	for name, source := range scannedPatterns {
		var err error
		if compiled[name], err = compilePattern(source); err != nil {
			f.Fatal(err)
		}
	}
	f.Add("I'll  go\r\n to 12345 漢字's e\u0301 HTTPServer's")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		for name, source := range scannedPatterns {
			if got, want := spansOf(scannerOf(source), text), spansOf(compiled[name], text); !slices.Equal(got, want) {
				t.Errorf("%s in %q: the scanner finds %v, the pattern %v", name, text, got, want)
			}
		}
	})
}

// FuzzPatterns looks for patterns that make the parser or the matcher fail.
func FuzzPatterns(f *testing.F) {
	for _, source := range matchedPatterns {
		f.Add(source, "I'll 12345 漢字 ab")
	}
	f.Fuzz(func(t *testing.T, source, text string) {
		if len(source) > 60 || len(text) > 30 {
			return
		}
		compiled, err := compilePattern(source)
		if err != nil {
			return
		}
		last := 0
		for s := range compiled.all(text) {
			if s.Start < last || s.End < s.Start || s.End > len(text) {
				t.Fatalf("%q in %q: %v after %d", source, text, s, last)
			}
			last = s.End
		}
	})
}
