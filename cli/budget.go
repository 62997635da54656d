package cli

import (
	"context"
	"fmt"
	"strings"

	"relabel"
)

// noticeFlags change the budget and the webhook of a run; absent flags change nothing.
type noticeFlags struct {
	BudgetTokens  *int64   `placeholder:"N" help:"${budget_tokens}"`
	BudgetCost    *float64 `placeholder:"X" help:"${budget_cost}"`
	Webhook       *string  `placeholder:"URL" help:"Webhook for the ends of iterations and exports and for automatic pauses. ${webhook_url} Empty: none."`
	WebhookSecret *string  `placeholder:"NAME" help:"${webhook_secret}"`
}

// over returns the run's settings with the flags applied; nil if no flag is given.
func (f noticeFlags) over(run relabel.Run) (budget *relabel.Budget, webhook *relabel.Webhook) {
	if f.BudgetTokens != nil || f.BudgetCost != nil {
		budget = &relabel.Budget{}
		if run.Budget != nil {
			*budget = *run.Budget
		}
		if f.BudgetTokens != nil {
			budget.Tokens = *f.BudgetTokens
		}
		if f.BudgetCost != nil {
			budget.Cost = *f.BudgetCost
		}
	}
	if f.Webhook != nil || f.WebhookSecret != nil {
		webhook = &relabel.Webhook{}
		if run.Webhook != nil {
			*webhook = *run.Webhook
		}
		if f.Webhook != nil {
			webhook.URL = *f.Webhook
		}
		if f.WebhookSecret != nil {
			webhook.Secret = *f.WebhookSecret
		}
		if webhook.URL == "" {
			*webhook = relabel.Webhook{}
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

// shownBudget says what a budget bounds, "" if there is none.
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
