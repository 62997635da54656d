package cli

import (
	"context"
	"fmt"

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
	Name        string   `arg:"" help:"Name of the policy, e.g. student-round-2."`
	BaseURL     string   `required:"" placeholder:"URL" help:"Endpoint, up to and with /v1."`
	Replica     []string `placeholder:"URL" help:"Further address of the same model; may be repeated. Each trajectory keeps to one."`
	Model       string   `required:"" help:"Model name as the endpoint knows it."`
	ServerKind  string   `name:"server-kind" default:"generic" enum:"generic,openai,vllm,sglang,llama-server,transformers,llama_cpp,scripted" help:"What serves it, which says which optional fields are asked for: ${enum}."`
	ToolFormat  string   `name:"tool-format" default:"native" enum:"native,text" help:"How tools and calls go over the line: ${enum}. text is for endpoints without tool calling; relabel doctor --policy NAME says which one is."`
	Secret      string   `help:"NAME of the secret with its key: RELABEL_SECRET_<NAME> in the worker's environment, or a file of that name in --secrets."`
	Temperature float64  `default:"0.7" help:"For collection; evaluation is greedy."`
	TopP        float64  `default:"0.9" help:"For collection."`
	MaxTokens   int      `help:"Of one answer. Default: the server's."`
	policyLimitFlags
	policyPriceFlags
	policyTokenFlags
}

// policyLimitFlags bound a policy's use, in each worker process at each address.
type policyLimitFlags struct {
	Concurrency       int `default:"8" help:"Most calls in flight; fewer where the server has trouble with so many."`
	RequestsPerMinute int `help:"Most requests a minute. Default: no limit."`
	TokensPerMinute   int `help:"Most tokens a minute, prompt and answer. Default: no limit."`
	Timeout           int `default:"600" help:"Seconds for one request."`
	Retries           int `default:"3" help:"Retries after an unusable answer."`
	Patience          int `default:"600" help:"Seconds that a call waits for an endpoint that is down or busy, before it fails."`
	ContextTokens     int `placeholder:"N" help:"Tokens of prompt and answer together, as the server was started. What does not fit is not sent. Default: not known."`
	HedgeAfter        int `placeholder:"SECONDS" help:"Without an answer for so long, ask another replica too. Default: never."`
}

// policyPriceFlags say what a policy's tokens cost, and how its cache is asked for.
type policyPriceFlags struct {
	PriceInput   *float64 `placeholder:"MONEY" help:"Price of a million tokens of prompts."`
	PriceCached  *float64 `placeholder:"MONEY" help:"Of a million that came from the server's cache. Default: as input."`
	PriceOutput  *float64 `placeholder:"MONEY" help:"Of a million tokens of answers."`
	PriceBatch   float64  `placeholder:"SHARE" help:"Share of these prices that answers of the batch endpoint cost, such as 0.5. Default: all of them."`
	Currency     string   `default:"USD" help:"Of the prices, in three letters."`
	CacheMarkers string   `default:"none" enum:"none,anthropic" help:"How requests mark what the server is to cache: ${enum}. Most servers need none."`
}

// policyTokenFlags say what the model's ids and its template are, for exports and for counting
// prompts.
type policyTokenFlags struct {
	Tokenizer    string `placeholder:"DIR|NAME" help:"The model's tokenizer: its folder on this machine, which is registered, or the name or hash of a registered one."`
	ChatTemplate string `placeholder:"FILE" help:"Another chat template than the tokenizer's own; its text is sent."`
}

// Run registers the policy.
func (c *PolicyAdd) Run(ctx context.Context) error {
	p := relabel.Policy{
		Name: c.Name, BaseURL: c.BaseURL, Replicas: c.Replica, Model: c.Model, Server: relabel.ServerKind(c.ServerKind),
		ToolFormat: relabel.ToolFormat(c.ToolFormat), Secret: c.Secret,
		Sampling: relabel.Sampling{Temperature: c.Temperature, TopP: c.TopP, MaxTokens: c.MaxTokens},
		Limits:   c.limits(),
	}
	if c.CacheMarkers != "none" {
		p.CacheMarkers = relabel.CacheMarkers(c.CacheMarkers)
	}
	var err error
	if p.Price, err = c.price(); err != nil {
		return err
	}
	return c.With(ctx, func(cl *Session) error {
		if err := c.policyTokenFlags.put(ctx, cl, &p); err != nil {
			return err
		}
		p, err := cl.CreatePolicy(ctx, PolicyBody(p))
		if err != nil {
			return notHere(err, map[string]string{"tokenizer": c.Tokenizer, "chat_template": c.ChatTemplate})
		}
		fmt.Printf("%s  %s@%d\n", p.ID, p.Name, p.Version)
		return nil
	})
}

// put puts the tokenizer and the template into a policy. A folder is registered.
func (f policyTokenFlags) put(ctx context.Context, cl *Session, p *relabel.Policy) (err error) {
	if p.Tokenizer, err = UseTokenizer(ctx, cl, f.Tokenizer); err != nil {
		return err
	}
	p.TemplateText, p.ChatTemplate, err = useTemplate(f.ChatTemplate)
	return err
}

func (f policyLimitFlags) limits() relabel.PolicyLimits {
	return relabel.PolicyLimits{Concurrency: f.Concurrency, RequestsPerMinute: f.RequestsPerMinute, TokensPerMinute: f.TokensPerMinute,
		TimeoutSeconds: f.Timeout, Retries: f.Retries, PatienceSeconds: f.Patience, HedgeAfterSeconds: f.HedgeAfter, ContextTokens: f.ContextTokens}
}

// price is nil where no price was given.
func (f policyPriceFlags) price() (*relabel.Price, error) {
	if f.PriceInput == nil && f.PriceCached == nil && f.PriceOutput == nil && f.PriceBatch == 0 {
		return nil, nil
	}
	if f.PriceInput == nil || f.PriceOutput == nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "go together: one without the other says too little").On("--price-input, --price-output")
	}
	p := &relabel.Price{Input: *f.PriceInput, Cached: *f.PriceInput, Output: *f.PriceOutput, Currency: f.Currency, Batch: f.PriceBatch}
	if f.PriceCached != nil {
		p.Cached = *f.PriceCached
	}
	return p, nil
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
