package cli

import (
	"cmp"
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
		old := deref(run.Budget)
		budget = &relabel.Budget{Tokens: *cmp.Or(f.BudgetTokens, &old.Tokens), Cost: *cmp.Or(f.BudgetCost, &old.Cost)}
	}
	if f.Webhook != nil || f.WebhookSecret != nil {
		old := deref(run.Webhook)
		webhook = &relabel.Webhook{URL: *cmp.Or(f.Webhook, &old.URL), Secret: *cmp.Or(f.WebhookSecret, &old.Secret)}
		if webhook.URL == "" {
			*webhook = relabel.Webhook{}
		}
	}
	return budget, webhook
}

// deref returns the value of a pointer; the zero value of nil.
func deref[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}

// printSpent prints the use of a run and its budget.
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

// shownBudget describes a budget; "" if there is none.
func shownBudget(b *relabel.Budget) string {
	var parts []string
	of := deref(b)
	if of.Tokens > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens", of.Tokens))
	}
	if of.Cost > 0 {
		parts = append(parts, fmt.Sprintf("cost %.2f", of.Cost))
	}
	return strings.Join(parts, ", ")
}
