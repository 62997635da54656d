package api

import (
	"cmp"
	"encoding/json"

	"relabel"
)

// NewPolicy describes an endpoint.
type NewPolicy struct {
	Name         string             `json:"name" arg:"" minLength:"1" maxLength:"100" doc:"Name of the policy: letters, digits, dots, hyphens and underscores."`
	BaseURL      string             `json:"base_url" placeholder:"URL" maxLength:"2000" doc:"Address of the endpoint, up to and including /v1, without credentials."`
	Replicas     []string           `json:"replicas,omitempty" name:"replica" placeholder:"URL" maxItems:"64" help:"Another address of the same model; may be repeated. Each trajectory uses one address." doc:"Further addresses that serve the same model. Each trajectory uses one of them."`
	Model        string             `json:"model" minLength:"1" maxLength:"500" doc:"The model's name, as the server knows it."`
	Server       relabel.ServerKind `json:"server,omitempty" name:"server-kind" enum:"generic,openai,vllm,sglang,llama-server,transformers,llama_cpp,scripted" default:"generic" doc:"Kind of server, which determines the optional request fields."`
	ToolFormat   relabel.ToolFormat `json:"tool_format,omitempty" enum:"native,text" default:"native" doc:"How tools and calls are sent: in the fields of the protocol, or as text, for endpoints without tool calling. The canonical action is the same."`
	Secret       string             `json:"secret,omitempty" maxLength:"1000" help:"NAME of the secret that holds the API key: RELABEL_SECRET_<NAME> in the environment of server and workers, or a file NAME in the folder of --secrets. Never the key itself." doc:"NAME of the secret (a letter, then at most 39 letters, digits, hyphens or underscores) that holds the API key, in the worker's environment or secrets folder. Never the key itself."`
	Sampling     *NewSampling       `json:"sampling,omitempty" embed:"" doc:"Sampling settings for collection. Evaluation is always greedy."`
	Limits       *NewLimits         `json:"limits,omitempty" embed:"" doc:"Limits of its calls."`
	Price        *NewPrice          `json:"price,omitempty" embed:"" prefix:"price-" doc:"Prices of its tokens. Absent: unknown."`
	CacheMarkers string             `json:"cache_markers,omitempty" enum:"none,anthropic" default:"none" doc:"How requests mark what the server should keep in its prompt cache. anthropic: cache_control in the content's text block."`
	Tokenizer    string             `json:"tokenizer,omitempty" placeholder:"DIR|NAME" help:"The model's tokenizer: its folder on this machine, which is registered, or the name or hash of a registered one." maxLength:"4096" doc:"The model's tokenizer: the name (or name@version) or the hash of a registered one, or a path below --tokenizers of the machines that use it. Exports of tokens use it when this policy is the student; a registered one counts prompts near the context limit. The policy keeps the hash."`
	ChatTemplate string             `json:"chat_template,omitempty" placeholder:"FILE" help:"File with a chat template that replaces the tokenizer's own; its text is sent." maxLength:"4096" doc:"Path of a file with a chat template that replaces the tokenizer's own, below --tokenizers of the same machines."`
	TemplateText string             `json:"template_text,omitempty" kong:"-" maxLength:"262144" doc:"Text of a chat template that replaces the tokenizer's own."`
	TrainedOn    []NewTrainedOn     `json:"trained_on,omitempty" kong:"-" maxItems:"1000" doc:"The exports that the model was trained on since trained_from, each once. The policy keeps their numbers of trajectories and labelled states."`
	TrainedFrom  string             `json:"trained_from,omitempty" placeholder:"POLICY" maxLength:"200" doc:"The policy version that this training started from: its id, its name (then the newest version), or name@version. Absent: a model that is not registered, which adds nothing to the effective samples."`
	Untrained    bool               `json:"untrained,omitempty" doc:"The model is the start of training: no export has trained it, and it has 0 effective samples. Excludes trained_on and trained_from."`
}

// NewTrainedOn is an export that a new policy was trained on.
type NewTrainedOn struct {
	Export relabel.ID `json:"export" format:"uuid" doc:"Id of an export that is done, or of a deleted one that an earlier policy version was trained on."`
	Epochs *float64   `json:"epochs,omitempty" minimum:"0.001" maximum:"1000000" doc:"Passes over the export; a fraction if training stopped within one. Default: the epochs of the trainer settings of the export's run; without any it is required."`
}

// CheckPolicy returns a CodeInvalid error on the first field of a policy that is wrong or
// outside the bounds of NewPolicy, or nil.
func CheckPolicy(p relabel.Policy) error {
	return cmp.Or(Validate(p, NewPolicy{}, ""), p.Validate())
}

// NewSampling is how a new policy samples.
type NewSampling struct {
	Temperature        *float64                   `json:"temperature,omitempty" minimum:"0" maximum:"2" doc:"Sampling temperature. Default 0.7 (paper F.1)."`
	TopP               *float64                   `json:"top_p,omitempty" exclusiveMinimum:"0" maximum:"1" doc:"Nucleus sampling: share of the probability mass to sample from. Default 0.9 (paper F.1)."`
	MaxTokens          int                        `json:"max_tokens,omitempty" minimum:"0" maximum:"10000000" doc:"Maximum tokens per answer; 0 leaves it to the server."`
	TopK               *int                       `json:"top_k,omitempty" minimum:"-1" maximum:"1000000" doc:"Number of the most probable tokens to sample from; -1: all. Default -1 for kinds of servers that accept it; the others decide."`
	MinP               *float64                   `json:"min_p,omitempty" minimum:"0" maximum:"1" doc:"Smallest probability of a token, as a share of that of the most probable one. Default 0 for kinds of servers that accept it; the others decide."`
	RepetitionPenalty  *float64                   `json:"repetition_penalty,omitempty" exclusiveMinimum:"0" maximum:"2" doc:"Factor against tokens that occur in prompt or answer. Default 1 (none) for kinds of servers that accept it; the others decide."`
	PresencePenalty    *float64                   `json:"presence_penalty,omitempty" minimum:"-2" maximum:"2" doc:"Penalty of tokens that occur in the answer. Default 0 for kinds of servers that accept top_k; the others decide."`
	FrequencyPenalty   *float64                   `json:"frequency_penalty,omitempty" minimum:"-2" maximum:"2" doc:"Penalty of tokens for each occurrence in the answer. Default 0 for kinds of servers that accept top_k; the others decide."`
	Stop               []string                   `json:"stop,omitempty" maxItems:"16" sep:"none" placeholder:"TEXT" help:"Text that ends an answer; may be repeated." doc:"Texts that end an answer, each of at most 200 characters."`
	ChatTemplateKwargs map[string]json.RawMessage `json:"chat_template_kwargs,omitempty" type:"json" placeholder:"JSON" doc:"Variables of the server's chat template, such as {\"enable_thinking\": false}."`
	Logprobs           *bool                      `json:"logprobs,omitempty" negatable:"" doc:"Whether to request log-probabilities of the sampled tokens. Default true for kinds of servers that are known to return them."`
}

// NewLimits bounds a new policy's use.
type NewLimits struct {
	Concurrency       *int `json:"concurrency,omitempty" minimum:"1" maximum:"4096" doc:"Maximum calls in flight at each address per worker process; fewer if the server is overloaded. Default 8."`
	RequestsPerMinute *int `json:"requests_per_minute,omitempty" minimum:"0" maximum:"1000000000" doc:"Requests per minute at each address per worker process. Default 0: no limit."`
	TokensPerMinute   *int `json:"tokens_per_minute,omitempty" minimum:"0" maximum:"1000000000" doc:"Tokens of prompts and answers per minute at each address per worker process. Default 0: no limit."`
	TimeoutSeconds    *int `json:"timeout_seconds,omitempty" name:"timeout" placeholder:"SECONDS" minimum:"1" maximum:"86400" doc:"Seconds that one HTTP request may take. Default 600."`
	Retries           *int `json:"retries,omitempty" minimum:"0" maximum:"20" doc:"Retries after an unusable answer. Default 3."`
	PatienceSeconds   *int `json:"patience_seconds,omitempty" name:"patience" placeholder:"SECONDS" minimum:"0" maximum:"86400" doc:"Seconds that a call waits for an endpoint that is down or busy before it fails. Default 600."`
	ContextTokens     *int `json:"context_tokens,omitempty" minimum:"0" maximum:"10000000" doc:"Tokens of prompt and answer together, the server's context length; 0: unknown. A prompt that does not fit is not sent."`
	HedgeAfterSeconds *int `json:"hedge_after_seconds,omitempty" name:"hedge-after" placeholder:"SECONDS" minimum:"0" maximum:"86400" doc:"Seconds without an answer after which the request is also sent to another replica. Default 0: never."`
}

// NewPrice is what a new policy's tokens cost.
type NewPrice struct {
	Input    float64  `json:"input" and:"price" minimum:"0" maximum:"1000000" doc:"Price of a million prompt tokens."`
	Cached   *float64 `json:"cached,omitempty" minimum:"0" maximum:"1000000" doc:"Price of a million prompt tokens read from the server's cache. Default: the input price."`
	Output   float64  `json:"output" and:"price" minimum:"0" maximum:"1000000" doc:"Price of a million answer tokens."`
	Batch    float64  `json:"batch,omitempty" minimum:"0" maximum:"1" doc:"Share of these prices that the batch endpoint charges, such as 0.5; 0: the full price."`
	Currency string   `json:"currency,omitempty" pattern:"^[A-Z]{3}$" default:"USD" doc:"Currency code of three letters, such as USD."`
}

// Over returns d with what was given in its place.
func (s *NewSampling) Over(d relabel.Sampling) relabel.Sampling {
	if s == nil {
		return d
	}
	set(&d.Temperature, s.Temperature)
	set(&d.TopP, s.TopP)
	d.MaxTokens, d.Stop, d.ChatTemplateKwargs = s.MaxTokens, s.Stop, s.ChatTemplateKwargs
	d.TopK, d.MinP = s.TopK, s.MinP
	d.RepetitionPenalty, d.PresencePenalty, d.FrequencyPenalty = s.RepetitionPenalty, s.PresencePenalty, s.FrequencyPenalty
	d.Logprobs = s.Logprobs
	return d
}

// Over returns d with what was given in its place.
func (l *NewLimits) Over(d relabel.PolicyLimits) relabel.PolicyLimits {
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

// Price is the price as it is stored; nil if none was given.
func (p *NewPrice) Price() *relabel.Price {
	if p == nil {
		return nil
	}
	made := &relabel.Price{Input: p.Input, Cached: p.Input, Output: p.Output, Currency: p.Currency, Batch: p.Batch}
	set(&made.Cached, p.Cached)
	return made
}

// set puts what was given in the place of a default.
func set[T any](field *T, given *T) {
	if given != nil {
		*field = *given
	}
}
