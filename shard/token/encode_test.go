package token

import (
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// comparedTokenizers are compared with the reference, id by id. Of Python's sources, one
// file in so many is taken: all of them where exports need it first.
var comparedTokenizers = map[string]int{
	"qwen3": 1, "qwen2_5": 1, "llama3_1": 1, "deepseek_v3": 1, "gpt4o": 8, "mistral_nemo": 8, "gpt2": 8, "claude": 8, "command_r_plus": 8, "gpt4": 8,
	"qwen1_5": 20, "llama3": 20, "llama3_2": 20, "gpt3": 20, "text_davinci002": 20, "gpt35turbo": 20, "text_embedding_ada002": 20, "claude1": 20, "aya_expanse": 20,
	// Not byte-level: characters, unknown tokens, byte fallback, merges over whole texts.
	"llama2": 20, "gemma": 20, "gemma3": 20, "yi": 20, "internlm2": 20, "baichuan2": 20, "chatglm3": 20,
}

// everySource takes all of Python's sources, and all fuzzed texts, for each tokenizer.
var everySource = os.Getenv("RELABEL_TEST_TOKENS") == "all"

// standardLibrary returns the sources of Python's standard library.
func standardLibrary(t testing.TB) []string {
	t.Helper()
	python := script(t, "python.sh", "--interpreter")
	out, err := exec.Command(python, "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))").Output()
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	err = filepath.WalkDir(strings.TrimSpace(string(out)), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".py" {
			if err == nil && d.IsDir() && strings.HasSuffix(name, "-packages") {
				return filepath.SkipDir
			}
			return err
		}
		source, err := os.ReadFile(name)
		texts = append(texts, strings.ToValidUTF8(string(source), "\ufffd")) // some tests of Python are in Latin-1
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(texts) < 500 {
		t.Fatalf("only %d sources found", len(texts))
	}
	return texts
}

// mixedTexts returns the texts of testdata/texts.json: many scripts and odd places.
func mixedTexts(t testing.TB) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/texts.json")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	if err := json.Unmarshal(data, &texts); err != nil {
		t.Fatal(err)
	}
	return texts
}

// fuzzedTexts returns texts made of what tokenizers tell apart, the added tokens of one
// among it, whole and broken.
func fuzzedTexts(tk *Tokenizer, n int) []string {
	r := rand.New(rand.NewPCG(5, 6))
	added := tk.Added()
	texts := make([]string, n)
	for i := range texts {
		var b strings.Builder
		for range r.IntN(16) {
			switch k := r.IntN(10); {
			case k == 0 && len(added) > 0:
				content := added[r.IntN(len(added))].Content
				b.WriteString(content)
			case k == 1 && len(added) > 0:
				content := []rune(added[r.IntN(len(added))].Content)
				b.WriteString(string(content[:r.IntN(len(content)+1)]))
			case k == 2:
				b.WriteString(strings.Repeat(fragment(r), r.IntN(40)))
			default:
				b.WriteString(fragment(r))
			}
		}
		texts[i] = b.String()
	}
	return texts
}

// firstDifference shows where two lists of ids part.
func firstDifference(t *testing.T, tk *Tokenizer, got, want []int32) {
	t.Helper()
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	around := func(ids []int32) []int32 { return ids[max(0, i-3):min(len(ids), i+5)] }
	t.Errorf("after %d equal ids: %v %q, the reference has %v %q", i, around(got), tk.Decode(around(got)), around(want), tk.Decode(around(want)))
}

// compare encodes texts here and there, and decodes what comes out.
func compare(t *testing.T, tk *Tokenizer, ref *reference, texts []string) {
	t.Helper()
	wrong := 0
	for batch := range slices.Chunk(texts, 500) {
		all := ref.encode(batch)
		var back []string
		if err := ref.ask(map[string]any{"decode": all}, &back); err != nil {
			t.Fatal(err)
		}
		for i, want := range all {
			got := tk.Encode(nil, batch[i])
			if !slices.Equal(got, want) {
				if wrong++; wrong <= 5 {
					t.Logf("in %.300q", batch[i])
					firstDifference(t, tk, got, want)
				}
			} else if text := tk.Decode(got); text != back[i] {
				if wrong++; wrong <= 5 {
					t.Errorf("%.300q decodes to %.300q, in the reference to %.300q", batch[i], text, back[i])
				}
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d texts differ", wrong, len(texts))
	}
}

func TestIDsAreThoseOfTheReference(t *testing.T) {
	library, mixed := standardLibrary(t), mixedTexts(t)
	for name, every := range comparedTokenizers {
		t.Run(name, func(t *testing.T) {
			tk, err := Open(tokenizerFile(t, name))
			if err != nil {
				t.Fatal(err)
			}
			ref := startReference(t, tokenizerFile(t, name))
			var sources []string
			for i, source := range library {
				if i%every == 0 || everySource {
					sources = append(sources, source)
				}
			}
			compare(t, tk, ref, sources)
			compare(t, tk, ref, mixed)
			fuzzed := 25_000
			if every > 8 && !everySource {
				fuzzed = 5_000
			}
			compare(t, tk, ref, fuzzedTexts(tk, fuzzed))
		})
	}
}
