package main

import (
	"context"
	"fmt"
	"strings"

	"relabel"
)

// noticeFlags say what a run may use and whom it tells; what is left out stays.
type noticeFlags struct {
	BudgetTokens  *int64   `placeholder:"N" help:"Most tokens of prompts and answers together, before the run is paused; 0: no bound."`
	BudgetCost    *float64 `placeholder:"X" help:"Most cost, in the currency of the policies' prices; 0: no bound."`
	Webhook       *string  `placeholder:"URL" help:"Who is told when an iteration or an export is over, or the run is paused by itself; empty: nobody of its own."`
	WebhookSecret *string  `placeholder:"NAME" help:"NAME of the secret that signs what is told."`
}

// add puts what is given over what the run has.
func (f noticeFlags) add(body map[string]any, run relabel.Run) {
	if f.BudgetTokens != nil || f.BudgetCost != nil {
		var b relabel.Budget
		if run.Budget != nil {
			b = *run.Budget
		}
		if f.BudgetTokens != nil {
			b.Tokens = *f.BudgetTokens
		}
		if f.BudgetCost != nil {
			b.Cost = *f.BudgetCost
		}
		body["budget"] = b
	}
	if f.Webhook != nil || f.WebhookSecret != nil {
		var w relabel.Webhook
		if run.Webhook != nil {
			w = *run.Webhook
		}
		if f.Webhook != nil {
			w.URL = *f.Webhook
		}
		if f.WebhookSecret != nil {
			w.Secret = *f.WebhookSecret
		}
		if w.URL == "" {
			w = relabel.Webhook{}
		}
		body["webhook"] = w
	}
}

// printSpent says what a run has used, and of what budget.
func printSpent(ctx context.Context, cl *client, run relabel.Run) error {
	var shown struct {
		relabel.Run
		Spent relabel.Spent `json:"spent"`
	}
	if err := cl.get(ctx, "/v1/runs/"+run.ID.String(), &shown); err != nil {
		return err
	}
	if shown.Spent.Calls == 0 && shown.Budget == nil {
		return nil
	}
	text := fmt.Sprintf("\nspent: %d tokens in %d calls, cost %.2f", shown.Spent.Tokens, shown.Spent.Calls, shown.Spent.Cost)
	if b := shownBudget(shown.Budget); b != "" {
		text += "; budget: " + b
	}
	fmt.Println(text)
	return nil
}

// shownBudget says what a budget bounds, "" where there is none.
func shownBudget(b *relabel.Budget) string {
	var parts []string
	if b != nil && b.Tokens > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens", b.Tokens))
	}
	if b != nil && b.Cost > 0 {
		parts = append(parts, fmt.Sprintf("cost %.2f", b.Cost))
	}
	return strings.Join(parts, ", ")
}
