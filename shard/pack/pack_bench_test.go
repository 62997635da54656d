package pack

import (
	"math/rand"
	"testing"
)

// mixes are items as exports have them, some number of tokens of each, over bins of 64k.
var mixes = []struct {
	name  string
	items func(r *rand.Rand, tokens int) []Item
}{
	{"rows of leaves, 40 turns", func(r *rand.Rand, tokens int) (items []Item) {
		for tokens > 0 { // states grow from 3k by some 700 tokens a turn
			at := 2000 + r.Intn(3000)
			for range 5 + r.Intn(36) {
				at += 100 + r.Intn(1200)
				items, tokens = append(items, Item{at, at}), tokens-at
			}
		}
		return items
	}},
	{"trunks alone", func(r *rand.Rand, tokens int) (items []Item) {
		for tokens > 0 { // short and long trajectories
			n := min(64<<10, 1500+int(r.ExpFloat64()*12000))
			items, tokens = append(items, Item{n, n}), tokens-n
		}
		return items
	}},
	{"trees of 20k to 64k", func(r *rand.Rand, tokens int) (items []Item) {
		for tokens > 0 {
			n := 20000 + r.Intn(45000)
			items, tokens = append(items, Item{n, n}), tokens-n
		}
		return items
	}},
}

// BenchmarkPack packs 10M tokens, as a part of an export has, for the fill, and 100,000
// items for the time, beside the plain quadratic form on a tenth of them.
func BenchmarkPack(b *testing.B) {
	const capacity = 64 << 10
	limits := Limits{Bin: capacity, Path: capacity}
	for _, mix := range mixes {
		b.Run(mix.name, func(b *testing.B) {
			part := mix.items(rand.New(rand.NewSource(1)), 10e6)
			bins, _ := Pack(part, limits)
			many := mix.items(rand.New(rand.NewSource(2)), 100_000*capacity)[:100_000]
			for b.Loop() {
				Pack(many, limits)
			}
			all, _ := Pack(many, limits)
			b.ReportMetric(100*fill(part, bins, capacity), "%fill/10M-tokens")
			b.ReportMetric(100*fill(many, all, capacity), "%fill/100k-items")
			b.ReportMetric(float64(len(bins)), "bins/10M-tokens")
		})
	}
	b.Run("plain form, 10k items", func(b *testing.B) {
		items := mixes[0].items(rand.New(rand.NewSource(2)), 10_000*capacity)[:10_000]
		for b.Loop() {
			plain(items, limits)
		}
	})
}

// fill is how full bins are: tokens in them by tokens that they could hold, from 0 to 1.
// It is 1 for no bins.
func fill(items []Item, bins [][]int, capacity int) float64 {
	if len(bins) == 0 {
		return 1
	}
	tokens := 0
	for _, bin := range bins {
		for _, i := range bin {
			tokens += items[i].Length
		}
	}
	return float64(tokens) / (float64(capacity) * float64(len(bins)))
}
