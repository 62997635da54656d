package cli

import (
	"context"
	"fmt"
	"strings"

	"relabel"
)

// policyShow is `relabel policy show NAME`.
type policyShow struct {
	ClientFlags
	Name string `arg:"" help:"Name of the policy (its newest version), NAME@VERSION or id."`
}

// Run prints the policy and the models that answered for it.
func (c *policyShow) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		p, err := FindPolicy(ctx, cl, c.Name)
		if err != nil {
			return err
		}
		seen, err := cl.Models(ctx, p.ID.String())
		if err != nil {
			return err
		}
		if err := policyTable(p).print(); err != nil {
			return err
		}
		if len(seen) == 0 {
			fmt.Println("\nNo model has answered for it yet.")
			return nil
		}
		fmt.Println()
		return modelTable(seen).print()
	})
}

// policyTable has one line per setting of a policy.
func policyTable(p relabel.Policy) *table {
	t := newTable("POLICY", fmt.Sprintf("%s@%d", p.Name, p.Version))
	l := p.Limits
	t.row("id", p.ID)
	t.row("endpoint", strings.Join(p.BaseURLs(), ", "))
	t.row("model", p.Model)
	t.row("server", p.Server)
	t.row("tool format", p.ToolFormat)
	t.row("secret", p.Secret)
	t.row("sampling", fmt.Sprintf("temperature %v, top_p %v, max_tokens %s", p.Sampling.Temperature, p.Sampling.TopP, orNone(p.Sampling.MaxTokens, "the server's")))
	t.row("concurrency", fmt.Sprintf("at most %d", l.Concurrency))
	t.row("per minute", fmt.Sprintf("%s requests, %s tokens", orNone(l.RequestsPerMinute, "any"), orNone(l.TokensPerMinute, "any")))
	t.row("timeout", fmt.Sprintf("%d s per request, %d retries, patience %d s", l.TimeoutSeconds, l.Retries, l.PatienceSeconds))
	if l.ContextTokens > 0 {
		t.row("context", fmt.Sprintf("%d tokens", l.ContextTokens))
	}
	if l.HedgeAfterSeconds > 0 {
		t.row("hedging", fmt.Sprintf("another replica after %d s", l.HedgeAfterSeconds))
	}
	if p.Price != nil {
		t.row("price", fmt.Sprintf("%v input, %v cached, %v output %s per million tokens", p.Price.Input, p.Price.Cached, p.Price.Output, p.Price.Currency))
	}
	t.row("cache markers", string(p.CacheMarkers))
	return t
}

// modelTable marks where the model behind an address changed.
func modelTable(seen []relabel.ModelSeen) *table {
	t := newTable("ANSWERED AT", "SINCE", "MODEL", "FINGERPRINT", "")
	for i, m := range seen {
		note := ""
		if i > 0 && seen[i-1].BaseURL == m.BaseURL {
			note = "changed"
		}
		t.row(m.BaseURL, m.FirstAt, m.Model, m.Fingerprint, note)
	}
	return t
}

// orNone formats n, or returns none for 0.
func orNone(n int, none string) string {
	if n == 0 {
		return none
	}
	return fmt.Sprint(n)
}
