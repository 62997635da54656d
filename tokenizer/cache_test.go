package tokenizer

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// TestManyTextsAreEncodedConcurrently encodes from several sides with one cache, and expects what each
// text gets alone, with a cache of its own.
func TestManyTextsAreEncodedConcurrently(t *testing.T) {
	_, data := writeVariant(t, nothing)
	tk, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	texts := make([]string, 400)
	want := make([][]int32, len(texts))
	r := rand.New(rand.NewPCG(15, 16))
	for i := range texts {
		texts[i] = someText(r) + someText(r)
		alone := *tk.model
		alone.cache = newWordCache()
		words := &splitting{stages: tk.stages, model: &alone}
		words.run(0, texts[i])
		want[i] = words.ids
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i, text := range texts {
				if got := tk.Encode(nil, text); !slices.Equal(got, want[i]) {
					t.Errorf("%q: %v, alone %v", text, got, want[i])
					return
				}
			}
		})
	}
	all.Wait()
}

// TestLongWordsMergeAsShortOnesDo compares the queue with looking at all pairs.
func TestLongWordsMergeAsShortOnesDo(t *testing.T) {
	_, data := writeVariant(t, nothing)
	tk, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(17, 18))
	for range 20_000 {
		word := make([]byte, 1+r.IntN(shortWord))
		for i := range word {
			word[i] = "aab\x00\xff c"[r.IntN(7)]
		}
		short := tk.model.appendSymbols(nil, string(word))
		long := slices.Clone(short)
		short, long = short[:tk.model.mergeShort(short)], long[:tk.model.mergeLong(long)]
		if !slices.Equal(short, long) {
			t.Fatalf("%q: %v, through the queue %v", word, short, long)
		}
	}
}
