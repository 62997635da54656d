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
}

// NewPolicy describes an endpoint.
type NewPolicy struct {
	Name       string             `json:"name" minLength:"1" maxLength:"100" doc:"Its name: letters, digits, dots, hyphens and underscores."`
	BaseURL    string             `json:"base_url" maxLength:"2000" doc:"Address of the endpoint, up to and with /v1; no credentials in it."`
	Model      string             `json:"model" minLength:"1" maxLength:"500" doc:"The model's name, as the server knows it."`
	Server     relabel.ServerKind `json:"server,omitempty" enum:"generic,openai,vllm,sglang,llama-server,transformers,llama_cpp,scripted" default:"generic" doc:"What kind of server it is, which says what optional fields it takes."`
	ToolFormat relabel.ToolFormat `json:"tool_format,omitempty" enum:"native,text" default:"native" doc:"How tools and calls go over the line: in the fields that the protocol has for them, or as text, for endpoints without tool calling. The canonical action is the same."`
	Secret     string             `json:"secret,omitempty" maxLength:"100" doc:"NAME of the secret that holds the API key, in the worker's environment or secrets folder. Never the key itself."`
	Sampling   *NewSampling       `json:"sampling,omitempty" doc:"How it samples when it collects. Evaluation is greedy whatever stands here."`
	Limits     *NewLimits         `json:"limits,omitempty" doc:"Bounds of its use."`
}

// NewSampling is how a new policy samples.
type NewSampling struct {
	Temperature *float64 `json:"temperature,omitempty" minimum:"0" maximum:"2" doc:"Sampling temperature. Default 0.7 (paper F.1)."`
	TopP        *float64 `json:"top_p,omitempty" exclusiveMinimum:"0" maximum:"1" doc:"Nucleus of probability mass that is sampled from. Default 0.9 (paper F.1)."`
	MaxTokens   int      `json:"max_tokens,omitempty" minimum:"0" maximum:"10000000" doc:"Most tokens of one answer; 0 leaves it to the server."`
}

// NewLimits bounds a new policy's use.
type NewLimits struct {
	Concurrency    *int `json:"concurrency,omitempty" minimum:"1" maximum:"4096" doc:"Calls in flight in one worker process. Default 8."`
	TimeoutSeconds *int `json:"timeout_seconds,omitempty" minimum:"1" maximum:"86400" doc:"Seconds that one HTTP request may take. Default 600."`
	Retries        *int `json:"retries,omitempty" minimum:"0" maximum:"20" doc:"Further tries after the first. Default 3."`
}

func (s *site) createPolicy(ctx context.Context, in *of[NewPolicy]) (*of[relabel.Policy], error) {
	b := in.Body
	p := relabel.Policy{ID: relabel.NewID(), Name: b.Name, BaseURL: b.BaseURL, Model: b.Model, Server: b.Server, ToolFormat: b.ToolFormat, Secret: b.Secret,
		Sampling: relabel.PaperSampling, Limits: relabel.DefaultPolicyLimits}
	if b.Sampling != nil {
		set(&p.Sampling.Temperature, b.Sampling.Temperature)
		set(&p.Sampling.TopP, b.Sampling.TopP)
		p.Sampling.MaxTokens = b.Sampling.MaxTokens
	}
	if b.Limits != nil {
		set(&p.Limits.Concurrency, b.Limits.Concurrency)
		set(&p.Limits.TimeoutSeconds, b.Limits.TimeoutSeconds)
		set(&p.Limits.Retries, b.Limits.Retries)
	}
	if _, err := uuid.Parse(p.Name); err == nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "a name that is a UUID would be taken for an id").On("name")
	}
	if err := p.Validate(); err != nil {
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

// findPolicy finds a policy by id, by name or by name@version.
func (s *site) findPolicy(ctx context.Context, word string) (relabel.Policy, error) {
	if id, err := uuid.Parse(word); err == nil {
		return s.Store.FindPolicy(ctx, id)
	}
	return s.Store.FindPolicyByName(ctx, word)
}
