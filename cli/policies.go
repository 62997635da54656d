package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"relabel"
	"relabel/api"
)

// PolicyCommand is `relabel policy`.
type PolicyCommand struct {
	Add  PolicyAdd  `cmd:"" help:"Register an endpoint, or a new version of one; old versions stay as they are."`
	List policyList `cmd:"" help:"List policies, all versions, newest first."`
	Show policyShow `cmd:"" help:"Show a policy: its addresses and limits, and the models that answered for it."`
}

// PolicyAdd is `relabel policy add NAME`.
type PolicyAdd struct {
	ClientFlags
	api.NewPolicy
}

// Run registers the policy.
func (c *PolicyAdd) Run(ctx context.Context, flags *kong.Context) error {
	if err := c.checkPrice(flags); err != nil {
		return err
	}
	return c.With(ctx, func(cl *Session) error {
		var err error
		body := c.NewPolicy
		if body.Tokenizer, err = UseTokenizer(ctx, cl, c.Tokenizer); err != nil {
			return err
		}
		if body.Text, body.Template, err = useTemplate(c.Template); err != nil {
			return err
		}
		p, err := cl.CreatePolicy(ctx, body)
		if err != nil {
			return notHere(err, map[string]string{"tokenizer": c.Tokenizer, "chat_template": c.Template})
		}
		fmt.Printf("%s  %s@%d\n", p.ID, p.Name, p.Version)
		return nil
	})
}

// checkPrice removes the price if no flag gave one, and refuses a price without input or output.
func (c *PolicyAdd) checkPrice(flags *kong.Context) error {
	given := map[string]bool{}
	for _, p := range flags.Path {
		if p.Flag != nil && strings.HasPrefix(p.Flag.Name, "price-") {
			given[p.Flag.Name] = true
		}
	}
	switch {
	case len(given) == 0:
		c.Price = nil
	case !given["price-input"] || !given["price-output"]:
		return relabel.Errorf(relabel.CodeInvalid, "are both required for a price").On("--price-input, --price-output")
	}
	return nil
}

// PolicyBody is a policy as POST /v1/policies takes it.
func PolicyBody(p relabel.Policy) api.NewPolicy {
	l := p.Limits
	body := api.NewPolicy{Name: p.Name, BaseURL: p.BaseURL, Replicas: p.Replicas, Model: p.Model, Server: p.Server, ToolFormat: p.ToolFormat, Secret: p.Secret,
		Sampling: &api.NewSampling{Temperature: &p.Sampling.Temperature, TopP: &p.Sampling.TopP, MaxTokens: p.Sampling.MaxTokens},
		Limits: &api.NewLimits{Concurrency: &l.Concurrency, RequestsPerMinute: &l.RequestsPerMinute, TokensPerMinute: &l.TokensPerMinute, TimeoutSeconds: &l.TimeoutSeconds,
			Retries: &l.Retries, PatienceSeconds: &l.PatienceSeconds, ContextTokens: &l.ContextTokens, HedgeAfterSeconds: &l.HedgeAfterSeconds},
		Markers: string(p.CacheMarkers), Tokenizer: p.Tokenizer, Template: p.ChatTemplate, Text: p.TemplateText}
	if p.Price != nil {
		body.Price = &api.NewPrice{Input: p.Price.Input, Cached: &p.Price.Cached, Output: p.Price.Output, Batch: p.Price.Batch, Currency: p.Price.Currency}
	}
	return body
}

// FindPolicy finds a policy by id, by name (its newest version) or by name@version.
func FindPolicy(ctx context.Context, cl *Session, word string) (relabel.Policy, error) {
	p, err := cl.Policy(ctx, word)
	if relabel.CodeOf(err) == relabel.CodeNotFound {
		err = relabel.Errorf(relabel.CodeNotFound, "no policy %q; `relabel policy list` shows what there is", word)
	}
	return p, err
}

// policyList is `relabel policy list`.
type policyList struct{ ClientFlags }

// Run prints the policies.
func (c *policyList) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		policies, err := cl.Policies(ctx)
		if err != nil {
			return err
		}
		t := NewTable("ID", "NAME", "MODEL", "ENDPOINT", "SERVER", "TOOLS", "SECRET")
		for _, p := range policies {
			t.Row(p.ID, fmt.Sprintf("%s@%d", p.Name, p.Version), p.Model, p.BaseURL, p.Server, p.ToolFormat, p.Secret)
		}
		return t.Print()
	})
}
