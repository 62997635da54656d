package relabel

import "math"

// Price is what a policy's tokens cost, per million of them.
type Price struct {
	Input    float64 `json:"input" doc:"A million tokens of prompts."`
	Cached   float64 `json:"cached" doc:"A million tokens of prompts that came from the server's cache."`
	Output   float64 `json:"output" doc:"A million tokens of answers."`
	Currency string  `json:"currency" doc:"Currency, in three letters."`
	// Batch is the share of these prices that answers of the batch endpoint cost, such as
	// 0.5; 0: all of them.
	Batch float64 `json:"batch,omitempty" doc:"Share of these prices that answers of the batch endpoint cost; absent: all of them."`
}

// OfBatches is what answers of the batch endpoint cost.
func (p *Price) OfBatches() *Price {
	if p == nil || p.Batch == 0 {
		return p
	}
	return &Price{Input: p.Input * p.Batch, Cached: p.Cached * p.Batch, Output: p.Output * p.Batch, Currency: p.Currency}
}

// CostMicros is what u costs in millionths of the currency, rounded to the nearest; nil
// where price or usage is not known.
func (p *Price) CostMicros(u *Usage) *int64 {
	if p == nil || u == nil {
		return nil
	}
	// A price per million tokens is a price in millionths per token.
	cached := min(max(u.CachedTokens, 0), max(u.PromptTokens, 0))
	cost := float64(max(u.PromptTokens, 0)-cached)*p.Input + float64(cached)*p.Cached + float64(max(u.CompletionTokens, 0))*p.Output
	micros := int64(math.Round(cost))
	return &micros
}
