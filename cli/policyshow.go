package cli

import (
	"context"
	"fmt"

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
		training, err := cl.Training(ctx, p.ID.String())
		if err != nil {
			return err
		}
		if err := policyTable(p).print(); err != nil {
			return err
		}
		if err := printTraining(training); err != nil {
			return err
		}
		if err := printWeights(ctx, cl, p); err != nil {
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

// policyTable has one line per setting of a policy, in the terms of `relabel policy add`.
func policyTable(p relabel.Policy) *table {
	t := newTable("POLICY", fmt.Sprintf("%s@%d", p.Name, p.Version))
	t.row("id", p.ID)
	if p.Weights != nil {
		t.row("loaded "+string(p.Weights.Kind), fmt.Sprintf("%s, sha256 %s", p.Weights.Path, p.Weights.SHA256))
	}
	for _, s := range settingsOf(p) {
		t.row(s.flag, s.value)
	}
	if p.Sampling.Logprobs != nil {
		t.row("logprobs", *p.Sampling.Logprobs)
	}
	if p.TemplateText != "" {
		t.row("chat-template", fmt.Sprintf("a text of %d bytes", len(p.TemplateText)))
	}
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
