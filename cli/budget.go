package cli

import (
	"context"
	"fmt"
	"strings"

	"relabel"
	"relabel/api"
)

// noticeFlags say what a run may use and whom it tells; absent flags change nothing.
type noticeFlags struct {
	BudgetTokens  *int64   `placeholder:"N" help:"Most tokens of prompts and answers together, before the run is paused; 0: no bound."`
	BudgetCost    *float64 `placeholder:"X" help:"Most cost, in the currency of the policies' prices; 0: no bound."`
	Webhook       *string  `placeholder:"URL" help:"Webhook to call when an iteration or an export ends, or relabel pauses the run; empty: none of its own."`
	WebhookSecret *string  `placeholder:"NAME" help:"NAME of the secret that signs what is told."`
}

// over puts what is given over what the run has; nil stays.
func (f noticeFlags) over(run relabel.Run) (budget *api.NewBudget, webhook *api.NewWebhook) {
	if f.BudgetTokens != nil || f.BudgetCost != nil {
		budget = &api.NewBudget{}
		if run.Budget != nil {
			*budget = api.NewBudget(*run.Budget)
		}
		if f.BudgetTokens != nil {
			budget.Tokens = *f.BudgetTokens
		}
		if f.BudgetCost != nil {
			budget.Cost = *f.BudgetCost
		}
	}
	if f.Webhook != nil || f.WebhookSecret != nil {
		webhook = &api.NewWebhook{}
		if run.Webhook != nil {
			*webhook = api.NewWebhook(*run.Webhook)
		}
		if f.Webhook != nil {
			webhook.URL = *f.Webhook
		}
		if f.WebhookSecret != nil {
			webhook.Secret = *f.WebhookSecret
		}
		if webhook.URL == "" {
			*webhook = api.NewWebhook{}
		}
	}
	return budget, webhook
}

// printSpent says what a run has used, and of what budget.
func printSpent(ctx context.Context, cl *Session, run relabel.Run) error {
	shown, err := cl.Run(ctx, run.ID.String())
	if err != nil {
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
