package relabel

import "testing"

func TestACallCostsItsTokensAtTheirPrices(t *testing.T) {
	price := &Price{Input: 3, Cached: 0.3, Output: 15, Currency: "USD"}
	for _, c := range []struct {
		price *Price
		usage *Usage
		want  int64 // micros; -1: not known
	}{
		{price, &Usage{PromptTokens: 1_000_000, CompletionTokens: 1_000_000}, 18_000_000},
		{price, &Usage{PromptTokens: 1_000_000, CachedTokens: 1_000_000}, 300_000},
		{price, &Usage{PromptTokens: 10_000, CachedTokens: 9_000, CompletionTokens: 100}, 3000 + 2700 + 1500},
		{price, &Usage{PromptTokens: 10, CachedTokens: 20}, 3}, // a server that counts more cached than there were
		{price, &Usage{PromptTokens: -10, CompletionTokens: -1}, 0},
		{price, nil, -1},
		{nil, &Usage{PromptTokens: 1}, -1},
	} {
		got := c.price.CostMicros(c.usage)
		if (got == nil) != (c.want < 0) || got != nil && *got != c.want {
			t.Errorf("%+v costs %v, want %d", c.usage, got, c.want)
		}
	}
}
