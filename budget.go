package relabel

import "math"

// MaxBudgetTokens and MaxBudgetCost bound budgets.
const (
	MaxBudgetTokens = 1_000_000_000_000_000
	MaxBudgetCost   = 1_000_000_000.0
)

// Budget bounds what a run's calls may use, both if both are set. When it is reached the
// run is paused. Calls in flight then are not cut, so that it is overdrawn by at most
// what they, and the turns in hand, use.
type Budget struct {
	Tokens int64   `json:"tokens,omitempty" doc:"Most tokens of prompts and answers together; absent: no bound."`
	Cost   float64 `json:"cost,omitempty" doc:"Most cost, in the currency of the policies' prices; absent: no bound."`
}

// Validate reports the first thing wrong with b as a CodeInvalid error on its field.
func (b Budget) Validate() error {
	switch {
	case b.Tokens < 0 || b.Tokens > MaxBudgetTokens:
		return Errorf(CodeInvalid, "%d is not in 0 to %d", b.Tokens, int64(MaxBudgetTokens)).On("budget.tokens")
	case !(b.Cost >= 0 && b.Cost <= MaxBudgetCost):
		return Errorf(CodeInvalid, "%v is not in 0 to %v", b.Cost, MaxBudgetCost).On("budget.cost")
	case b.Cost > 0 && b.CostMicros() == 0:
		return Errorf(CodeInvalid, "%v is less than a millionth", b.Cost).On("budget.cost")
	}
	return nil
}

// CostMicros is the bound of the cost in millionths of the currency.
func (b Budget) CostMicros() int64 { return int64(math.Round(b.Cost * 1e6)) }

// Spent is what a run's calls have used, those that failed too as far as their servers
// said so.
type Spent struct {
	Calls            int64   `json:"calls" doc:"Calls."`
	Tokens           int64   `json:"tokens" doc:"Tokens of prompts and answers together."`
	PromptTokens     int64   `json:"prompt_tokens" doc:"Tokens of prompts."`
	CachedTokens     int64   `json:"cached_tokens" doc:"Tokens of prompts that came from a server's cache."`
	CompletionTokens int64   `json:"completion_tokens" doc:"Tokens of answers."`
	Cost             float64 `json:"cost" doc:"What they cost, as far as the policies have prices."`
}
