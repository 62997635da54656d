package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/google/uuid"

	"relabel"
	"relabel/api"
)

// PolicyCommand is `relabel policy`.
type PolicyCommand struct {
	Add  PolicyAdd  `cmd:"" help:"Register an endpoint, or a new version of one; old versions do not change."`
	List policyList `cmd:"" help:"List policies, all versions, newest first."`
	Show policyShow `cmd:"" help:"Show a policy: its addresses and limits, and the models that answered for it."`
}

// PolicyAdd is `relabel policy add NAME`.
type PolicyAdd struct {
	ClientFlags
	api.NewPolicy
	TrainedOn []string `placeholder:"EXPORT[=EPOCHS]" help:"Export that the model was trained on since --trained-from, with the passes over it (a fraction if training stopped within one); may be repeated. Default of EPOCHS: --epochs, else those of the trainer settings of the export's run."`
	Epochs    *float64 `placeholder:"N" help:"Passes over each export of --trained-on without EPOCHS."`
}

// Run registers the policy.
func (c *PolicyAdd) Run(ctx context.Context, flags *kong.Context) error {
	if err := c.checkPrice(flags); err != nil {
		return err
	}
	return c.With(ctx, func(cl *Session) error {
		var err error
		body := c.NewPolicy
		if body.TrainedOn, err = c.trainedOn(); err != nil {
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

// trainedOn reads the exports that the model was trained on.
func (c *PolicyAdd) trainedOn() (all []api.NewTrainedOn, err error) {
	if c.Epochs != nil && len(c.TrainedOn) == 0 {
		return nil, relabel.Errorf(relabel.CodeInvalid, "needs --trained-on").On("--epochs")
	}
	for _, word := range c.TrainedOn {
		text, epochs, given := strings.Cut(word, "=")
		on := api.NewTrainedOn{Epochs: c.Epochs}
		if on.Export, err = uuid.Parse(text); err != nil {
			return nil, relabel.Errorf(relabel.CodeInvalid, "%q is not the id of an export; relabel export list shows them", text).On("--trained-on")
		}
		if given {
			number, err := strconv.ParseFloat(epochs, 64)
			if err != nil {
				return nil, relabel.Errorf(relabel.CodeInvalid, "%q is not a number of epochs", epochs).On("--trained-on")
			}
			on.Epochs = &number
		}
		if err := api.Validate(on, api.NewTrainedOn{}, "--trained-on"); err != nil {
			return nil, err
		}
		all = append(all, on)
	}
	return all, nil
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
