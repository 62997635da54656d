package server

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"relabel"
)

func (s *site) addPolicies() {
	add(s, operation(http.MethodPost, "/v1/policies", "policies", "create-policy", "Create a policy or a new version of it",
		"Stores a chat-completions endpoint as the next version of its name. The same definition as the newest version gives that one back."), s.createPolicy)
	add(s, operation(http.MethodGet, "/v1/policies", "policies", "list-policies", "List policies", "All versions of all policies, newest first."), s.listPolicies)
	add(s, operation(http.MethodGet, "/v1/policies/{policy}", "policies", "show-policy", "Show a policy", "One version of a policy."), s.showPolicy)
	add(s, operation(http.MethodGet, "/v1/policies/{policy}/models", "policies", "list-policy-models", "List the models that answered for a policy",
		"Address by address, in the order they were first seen. More than one at an address: the model behind it changed."), s.listModels)
}

// NewPolicy describes an endpoint.
type NewPolicy struct {
	Name       string             `json:"name" minLength:"1" maxLength:"100" doc:"Its name: letters, digits, dots, hyphens and underscores."`
	BaseURL    string             `json:"base_url" maxLength:"2000" doc:"Address of the endpoint, up to and with /v1; no credentials in it."`
	Replicas   []string           `json:"replicas,omitempty" maxItems:"64" doc:"Further addresses that serve the same model. Each trajectory keeps to one of them."`
	Model      string             `json:"model" minLength:"1" maxLength:"500" doc:"The model's name, as the server knows it."`
	Server     relabel.ServerKind `json:"server,omitempty" enum:"generic,openai,vllm,sglang,llama-server,transformers,llama_cpp,scripted" default:"generic" doc:"What kind of server it is, which says what optional fields it takes."`
	ToolFormat relabel.ToolFormat `json:"tool_format,omitempty" enum:"native,text" default:"native" doc:"How tools and calls go over the line: in the fields that the protocol has for them, or as text, for endpoints without tool calling. The canonical action is the same."`
	Secret     string             `json:"secret,omitempty" maxLength:"1000" doc:"NAME of the secret (a letter, then at most 39 letters, digits, hyphens or underscores) that holds the API key, in the worker's environment or secrets folder. Never the key itself."`
	Sampling   *NewSampling       `json:"sampling,omitempty" doc:"How it samples when it collects. Evaluation is greedy whatever stands here."`
	Limits     *NewLimits         `json:"limits,omitempty" doc:"Bounds of its use."`
	Price      *NewPrice          `json:"price,omitempty" doc:"What its tokens cost. Absent: not known."`
	Markers    string             `json:"cache_markers,omitempty" enum:"none,anthropic" default:"none" doc:"How requests mark what the server is to keep in its prompt cache. anthropic: cache_control in the content's text block."`
	Tokenizer  string             `json:"tokenizer,omitempty" maxLength:"4096" doc:"The model's tokenizer: the name (or name@version) or the hash of a registered one, or a path below --tokenizers of the machines that use it. Exports of tokens take it when this policy is the student; a registered one counts prompts near the context limit. The policy keeps the hash."`
	Template   string             `json:"chat_template,omitempty" maxLength:"4096" doc:"Path of a file with another chat template than the tokenizer's own, below --tokenizers of the same machines."`
	Text       string             `json:"template_text,omitempty" maxLength:"262144" doc:"Text of another chat template than the tokenizer's own."`
}

// NewSampling is how a new policy samples.
type NewSampling struct {
	Temperature *float64 `json:"temperature,omitempty" minimum:"0" maximum:"2" doc:"Sampling temperature. Default 0.7 (paper F.1)."`
	TopP        *float64 `json:"top_p,omitempty" exclusiveMinimum:"0" maximum:"1" doc:"Nucleus of probability mass that is sampled from. Default 0.9 (paper F.1)."`
	MaxTokens   int      `json:"max_tokens,omitempty" minimum:"0" maximum:"10000000" doc:"Most tokens of one answer; 0 leaves it to the server."`
}

// NewLimits bounds a new policy's use.
type NewLimits struct {
	Concurrency       *int `json:"concurrency,omitempty" minimum:"1" maximum:"4096" doc:"Most calls in flight at each address in one worker process; fewer where the server has trouble with so many. Default 8."`
	RequestsPerMinute *int `json:"requests_per_minute,omitempty" minimum:"0" maximum:"1000000000" doc:"Requests a minute at each address in one worker process. Default 0: no limit."`
	TokensPerMinute   *int `json:"tokens_per_minute,omitempty" minimum:"0" maximum:"1000000000" doc:"Tokens a minute, prompt and answer, at each address in one worker process. Default 0: no limit."`
	TimeoutSeconds    *int `json:"timeout_seconds,omitempty" minimum:"1" maximum:"86400" doc:"Seconds that one HTTP request may take. Default 600."`
	Retries           *int `json:"retries,omitempty" minimum:"0" maximum:"20" doc:"Further tries after an answer that is of no use. Default 3."`
	PatienceSeconds   *int `json:"patience_seconds,omitempty" minimum:"0" maximum:"86400" doc:"Seconds that a call waits for an endpoint that is down or says that it is busy, before it fails. Default 600."`
	ContextTokens     *int `json:"context_tokens,omitempty" minimum:"0" maximum:"10000000" doc:"Tokens of prompt and answer together, as the server was started; 0: not known. What does not fit is not sent."`
	HedgeAfterSeconds *int `json:"hedge_after_seconds,omitempty" minimum:"0" maximum:"86400" doc:"Seconds without an answer after which another replica is asked too. Default 0: never."`
}

// over puts what was given over d.
func (l *NewLimits) over(d relabel.PolicyLimits) relabel.PolicyLimits {
	if l == nil {
		return d
	}
	set(&d.Concurrency, l.Concurrency)
	set(&d.RequestsPerMinute, l.RequestsPerMinute)
	set(&d.TokensPerMinute, l.TokensPerMinute)
	set(&d.TimeoutSeconds, l.TimeoutSeconds)
	set(&d.Retries, l.Retries)
	set(&d.PatienceSeconds, l.PatienceSeconds)
	set(&d.HedgeAfterSeconds, l.HedgeAfterSeconds)
	set(&d.ContextTokens, l.ContextTokens)
	return d
}

// NewPrice is what a new policy's tokens cost.
type NewPrice struct {
	Input    float64  `json:"input" minimum:"0" maximum:"1000000" doc:"A million tokens of prompts."`
	Cached   *float64 `json:"cached,omitempty" minimum:"0" maximum:"1000000" doc:"A million tokens of prompts that came from the server's cache. Default: as input."`
	Output   float64  `json:"output" minimum:"0" maximum:"1000000" doc:"A million tokens of answers."`
	Batch    float64  `json:"batch,omitempty" minimum:"0" maximum:"1" doc:"Share of these prices that answers of the batch endpoint cost, such as 0.5; 0: all of them."`
	Currency string   `json:"currency,omitempty" pattern:"^[A-Z]{3}$" default:"USD" doc:"Currency, in three letters."`
}

func (p *NewPrice) price() *relabel.Price {
	if p == nil {
		return nil
	}
	made := &relabel.Price{Input: p.Input, Cached: p.Input, Output: p.Output, Currency: p.Currency, Batch: p.Batch}
	set(&made.Cached, p.Cached)
	return made
}

func (s *site) createPolicy(ctx context.Context, in *of[NewPolicy]) (*of[relabel.Policy], error) {
	b := in.Body
	p := relabel.Policy{ID: relabel.NewID(), Name: b.Name, BaseURL: b.BaseURL, Replicas: b.Replicas, Model: b.Model, Server: b.Server,
		ToolFormat: b.ToolFormat, Secret: b.Secret, Sampling: relabel.PaperSampling, Limits: b.Limits.over(relabel.DefaultPolicyLimits), Price: b.Price.price(),
		Tokenizer: b.Tokenizer, ChatTemplate: b.Template, TemplateText: b.Text}
	if b.Markers != "none" {
		p.CacheMarkers = relabel.CacheMarkers(b.Markers)
	}
	if b.Sampling != nil {
		set(&p.Sampling.Temperature, b.Sampling.Temperature)
		set(&p.Sampling.TopP, b.Sampling.TopP)
		p.Sampling.MaxTokens = b.Sampling.MaxTokens
	}
	if _, err := uuid.Parse(p.Name); err == nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "a name that is a UUID would be taken for an id").On("name")
	}
	if err := p.ValidateNew(); err != nil {
		return nil, err
	}
	for i, address := range p.BaseURLs() {
		if err := s.checkAddress(address, relabel.BaseURLField(i)); err != nil {
			return nil, err
		}
	}
	if err := s.resolveTokenizer(ctx, &p); err != nil {
		return nil, err
	}
	return one(s.Store.CreatePolicy(ctx, p))
}

// set puts what was given in the place of a default.
func set[T any](field *T, given *T) {
	if given != nil {
		*field = *given
	}
}

func (s *site) listPolicies(ctx context.Context, in *PageQuery) (*of[Page[relabel.Policy]], error) {
	return pageOf(s.Store.ListPolicies(ctx, in.page()))
}

func (s *site) showPolicy(ctx context.Context, in *struct {
	Policy string `path:"policy" maxLength:"200" doc:"Its id, its name (then the newest version), or name@version."`
}) (*of[relabel.Policy], error) {
	return one(s.findPolicy(ctx, in.Policy))
}

func (s *site) listModels(ctx context.Context, in *struct {
	Policy string `path:"policy" maxLength:"200" doc:"Its id, its name (then the newest version), or name@version."`
	PageQuery
}) (*of[Page[relabel.ModelSeen]], error) {
	p, err := s.findPolicy(ctx, in.Policy)
	if err != nil {
		return nil, err
	}
	seen, err := s.Store.ListModels(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	return pageOf(cut(seen, in.PageQuery, func(m relabel.ModelSeen) string {
		return uuid.NewSHA1(m.PolicyID, []byte(m.BaseURL+"\n"+m.Model+"\n"+m.Fingerprint)).String()
	}))
}

// findPolicy finds a policy by id, by name or by name@version.
func (s *site) findPolicy(ctx context.Context, word string) (relabel.Policy, error) {
	if id, err := uuid.Parse(word); err == nil {
		return s.Store.FindPolicy(ctx, id)
	}
	return s.Store.FindPolicyByName(ctx, word)
}
