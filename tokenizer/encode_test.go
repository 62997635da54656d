package tokenizer

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// comparedTokenizers are compared with the reference, id by id.
var comparedTokenizers = []string{
	"qwen3", "qwen2_5", "llama3_1", "deepseek_v3", "gpt4o", "mistral_nemo", "gpt2", "claude", "command_r_plus", "gpt4",
	"qwen1_5", "llama3", "llama3_2", "gpt3", "text_davinci002", "gpt35turbo", "text_embedding_ada002", "claude1", "aya_expanse",
	// Not byte-level: characters, unknown tokens, byte fallback, merges over whole texts.
	"llama2", "gemma", "gemma3", "yi", "internlm2", "baichuan2", "chatglm3",
}

// everySource compares tokenizers in full, and by the tests of Python's library too.
var everySource = os.Getenv("RELABEL_TEST_ALL") != ""

// comparedNow returns the tokenizers to compare: of RELABEL_TEST_ALL=K/N every Nth from number K on.
func comparedNow() (names []string) {
	first, step := 0, 1
	if _, err := fmt.Sscanf(os.Getenv("RELABEL_TEST_ALL"), "%d/%d", &first, &step); err != nil {
		first, step = 0, 1
	}
	for i := first; i < len(comparedTokenizers); i += step {
		names = append(names, comparedTokenizers[i])
	}
	return names
}

// standardLibrary returns the sources of Python's standard library, as most ship it: without
// its own tests, which are as much again.
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
			if err == nil && d.IsDir() && (strings.HasSuffix(name, "-packages") || testFolders[d.Name()] && !everySource) {
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

var testFolders = map[string]bool{"test": true, "tests": true, "idle_test": true}

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
	for batch := range slices.Chunk(texts, 200) {
		for i, want := range ref.encode(batch) {
			got := tk.Encode(nil, batch[i])
			if !slices.Equal(got, want.ids) {
				if wrong++; wrong <= 5 {
					t.Logf("in %.300q", batch[i])
					firstDifference(t, tk, got, want.ids)
				}
			} else if text := tk.Decode(got); text != want.text {
				if wrong++; wrong <= 5 {
					t.Errorf("%.300q decodes to %.300q, in the reference to %.300q", batch[i], text, want.text)
				}
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d texts differ", wrong, len(texts))
	}
}

// components is what a tokenizer.json is made of, apart from its vocabulary.
func components(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Normalizer   json.RawMessage            `json:"normalizer"`
		PreTokenizer json.RawMessage            `json:"pre_tokenizer"`
		Decoder      json.RawMessage            `json:"decoder"`
		Model        map[string]json.RawMessage `json:"model"`
	}
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	delete(all.Model, "vocab")
	delete(all.Model, "merges")
	return fmt.Sprintf("%s %s %s %s", all.Normalizer, all.PreTokenizer, all.Decoder, all.Model)
}

// drawnNow returns what is compared in a usual run: one in n, drawn anew each time; with RELABEL_TEST_ALL
// all.
func drawnNow[T any](t *testing.T, all []T, n int) (some []T) {
	t.Helper()
	if everySource {
		return all
	}
	seed := rand.Uint64()
	t.Logf("what is compared is drawn by seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, one := range all {
		if r.IntN(n) == 0 {
			some = append(some, one)
		}
	}
	return some
}

// someOf returns one in n texts, drawn by r.
func someOf(r *rand.Rand, texts []string, n int) (some []string) {
	for _, text := range texts {
		if r.IntN(n) == 0 {
			some = append(some, text)
		}
	}
	return some
}

// TestIDsAreThoseOfTheReference compares texts in many scripts, 25,000 fuzzed ones, and all
// of a standard library. Unless RELABEL_TEST_ALL is set (make test-all), each run draws a part:
// one in 20 of the library's sources, one in 5 of the fuzzed texts, and, of the tokenizers whose
// components another one before them has, one in 4 with one in 50 fuzzed texts.
func TestIDsAreThoseOfTheReference(t *testing.T) {
	library, mixed := standardLibrary(t), mixedTexts(t)
	seen := map[string]bool{}
	for _, name := range comparedNow() {
		parts := components(t, tokenizerFile(t, name))
		first := !seen[parts]
		if seen[parts] = true; !everySource && !first && rand.IntN(4) > 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tk := open(t, tokenizerFile(t, name))
			seed := rand.Uint64()
			t.Logf("texts are drawn by seed %d", seed)
			r := rand.New(rand.NewPCG(seed, 0))
			sources, fuzzed := library, fuzzedTexts(tk, 25_000)
			if !everySource {
				sources = someOf(r, sources, 20)
				fuzzed = someOf(r, fuzzed, map[bool]int{true: 5, false: 50}[first])
			}
			ref := startReference(t)
			ref.open(tokenizerFile(t, name))
			compare(t, tk, ref, slices.Concat(mixed, fuzzed, sources))
		})
	}
}
