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
	Add  PolicyAdd  `cmd:"" help:"Register an endpoint, or a new version of one; old versions do not change."`
	Load policyLoad `cmd:"" help:"Load a LoRA adapter or a checkpoint into a policy's servers (vLLM, SGLang), and register its next version with it."`
	List policyList `cmd:"" help:"List policies, all versions, newest first."`
	Show policyShow `cmd:"" help:"Show a policy: its addresses and limits, and the models that answered for it."`
}

// PolicyAdd is `relabel policy add NAME`.
type PolicyAdd struct {
	ClientFlags
	api.NewPolicy
	trainedFlags
}

// Run registers the policy.
func (c *PolicyAdd) Run(ctx context.Context, flags *kong.Context) error {
	if err := c.checkPrice(flags); err != nil {
		return err
	}
	return c.With(ctx, func(cl *Session) error {
		var err error
		body := c.NewPolicy
		if body.TrainedOn, err = c.trained(); err != nil {
			return err
		}
		if body.Tokenizer, err = UseTokenizer(ctx, cl, c.Tokenizer); err != nil {
			return err
		}
		if body.TemplateText, body.ChatTemplate, err = useTemplate(c.ChatTemplate); err != nil {
			return err
		}
		p, err := cl.CreatePolicy(ctx, body)
		if err != nil {
			return notHere(err, map[string]string{"tokenizer": c.Tokenizer, "chat_template": c.ChatTemplate})
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

// FindPolicy finds a policy by id, by name (its newest version) or by name@version.
func FindPolicy(ctx context.Context, cl *Session, word string) (relabel.Policy, error) {
	p, err := cl.Policy(ctx, word)
	return named(p, err, "policy", word, "policy list")
}

// policyList is `relabel policy list`.
type policyList struct{ ClientFlags }

// Run prints the policies.
func (c *policyList) Run(ctx context.Context) error {
	heads := []string{"ID", "NAME", "MODEL", "ENDPOINT", "SERVER", "TOOLS", "SECRET"}
	return list(ctx, c.ClientFlags, (*Session).Policies, heads, func(p relabel.Policy) []any {
		return []any{p.ID, fmt.Sprintf("%s@%d", p.Name, p.Version), p.Model, p.BaseURL, p.Server, p.ToolFormat, p.Secret}
	})
}
