package tokenizer

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestTablesAreThoseOfTheReference computes the tables again.
func TestTablesAreThoseOfTheReference(t *testing.T) {
	python := script(t, "python.sh", "testdata/requirements.txt")
	for file, want := range map[string]string{"characters": charactersText, "normalization": normalizationText} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(python, "testdata/"+file+".py")
			cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
			cmd.Stderr = os.Stderr
			got, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != want {
				t.Errorf("testdata/%s.py prints something else than %s.txt", file, file)
			}
		})
	}
}

func TestNormalFormsAreThoseOfTheReference(t *testing.T) {
	var texts []string
	for start := rune(0); start <= utf8.MaxRune; start += 64 { // each character that may be assigned one day, alone and after others
		if start >= 0x40000 && start < 0xe0000 || start >= 0xe0200 {
			continue
		}
		var alone, after, before strings.Builder
		for c := start; c < start+64; c++ {
			if utf8.ValidRune(c) {
				alone.WriteString("a" + string(c) + " ")
				after.WriteString("e\u0301" + string(c) + "\u0323" + string(c) + "\u0345\u0334")
				before.WriteString("\u1100" + string(c) + "\u11a8" + string(c) + "\u0338\u3099")
			}
		}
		texts = append(texts, alone.String(), after.String(), before.String())
	}
	texts = append(texts, mixedTexts(t)...)
	r := rand.New(rand.NewPCG(13, 14))
	c := compositions()
	var interesting []rune
	for r := range rune(utf8.MaxRune) {
		if c.traits.at(r)&traitClass != 0 {
			interesting = append(interesting, r)
		}
	}
	for r := range c.canonical {
		interesting = append(interesting, r)
	}
	for pair := range c.pairs {
		interesting = append(interesting, pair[0], pair[1])
	}
	for range 5000 {
		var s []rune
		for range r.IntN(30) {
			s = append(s, interesting[r.IntN(len(interesting))])
		}
		texts = append(texts, string(s), someText(r))
	}
	texts = drawnNow(t, texts, 5)
	ref := startReference(t)
	for name, f := range map[string]form{"NFC": formNFC, "NFD": formNFD, "NFKC": formNFKC, "NFKD": formNFKD} {
		t.Run(name, func(t *testing.T) {
			file, _ := writeVariant(t, func(file, _ object) { file["normalizer"] = object{"type": name} })
			var want []string
			ref.open(file)
			if err := ref.ask(map[string]any{"normalize": texts}, &want); err != nil {
				t.Fatal(err)
			}
			for i, text := range texts {
				got := f.apply(aligned{text: text})
				if got.text != want[i] {
					t.Fatalf("%+q becomes %+q, in the reference %+q", text, got.text, want[i])
				}
				origin := make([]int, len(text))
				for k := range origin {
					origin[k] = k
				}
				if traced := f.apply(aligned{text, origin}); traced.text != got.text || len(traced.origin) != len(traced.text) {
					t.Fatalf("%+q with its places becomes %+q", text, traced.text)
				}
			}
		})
	}
}

func TestPlacesSurviveEachNormalizer(t *testing.T) {
	text := " e\u0301 b "
	origin := []int{10, 11, 12, 13, 14, 15, 16}
	for want, n := range map[string]normalizer{
		"[10 10 10 11 12 13 14 15 16]":          prepend("Ā"),
		"[11 12 13 14 15]":                      strip{left: true, right: true},
		"[10 11 11 14 15 16]":                   formNFC,
		"[10 10 11 12 13 14 14 15 16 16]":       replace{literalFinder(" "), "xy"},
		"[11 12 13 15]":                         replace{literalFinder(" "), ""},
		"[10 10 11 12 12 13 13 14 14 15 16 16]": byteNormalizer{},
	} {
		got := n.apply(aligned{text, origin})
		if s := fmt.Sprint(got.origin); s != want || len(got.text) != len(got.origin) {
			t.Errorf("%T: the bytes of %q are from %v, want %s", n, got.text, s, want)
		}
	}
}
