package relabel

import (
	"context"
	"math"
	"time"
)

// Role is the part that a policy plays in a run: πe or πθ.
type Role string

// The roles of a policy. Executor of a turn is one of them.
const (
	Teacher Role = "teacher" // πe
	Student Role = "student" // πθ
)

// Policy is a named chat-completions endpoint. A policy is immutable: a change is a
// new version under the same name, so that provenance never moves.
type Policy struct {
	ID           ID           `json:"id" doc:"Its id; every version has its own."`
	Name         string       `json:"name" doc:"Its name."`
	Version      int          `json:"version" doc:"Its version under that name, from 1. A version never changes."`
	BaseURL      string       `json:"base_url" doc:"Address of the endpoint, up to and with /v1."`
	Replicas     []string     `json:"replicas,omitempty" doc:"Further addresses that serve the same model."`
	Model        string       `json:"model" doc:"The model's name, as the server knows it."`
	Server       ServerKind   `json:"server" doc:"What kind of server it is."`
	ToolFormat   ToolFormat   `json:"tool_format" doc:"How tools and calls go over the line: native or text."`
	Secret       string       `json:"secret,omitempty" doc:"Name of the secret that holds the API key; never the key."`
	Sampling     Sampling     `json:"sampling" doc:"How it samples when it collects."`
	Limits       PolicyLimits `json:"limits" doc:"Bounds of its use."`
	Price        *Price       `json:"price,omitempty" doc:"What its tokens cost; absent: not known."`
	CacheMarkers CacheMarkers `json:"cache_markers,omitempty" doc:"How requests mark what the server is to keep in its prompt cache; absent: not at all."`
	// Tokenizer is the model's tokenizer as it was named: the name or the hash of a registered
	// one, whose hash is in TokenizerHash, or else a path below --tokenizers. TemplateText is
	// another chat template than the tokenizer's own, ChatTemplate the path of a file with one,
	// below --tokenizers as well. All may be empty.
	Tokenizer     string    `json:"tokenizer,omitempty" doc:"The model's tokenizer as it was named; absent: not said."`
	TokenizerHash string    `json:"tokenizer_hash,omitempty" doc:"Hash of the registered tokenizer's files; absent: the tokenizer is a path below --tokenizers."`
	ChatTemplate  string    `json:"chat_template,omitempty" doc:"Path of a file with its chat template, below --tokenizers; absent: the tokenizer's own."`
	TemplateText  string    `json:"template_text,omitempty" doc:"Text of its chat template; absent: the tokenizer's own."`
	CreatedAt     time.Time `json:"created_at" doc:"When this version was made."`
}

// BaseURLs are the addresses that serve p, the first one first.
func (p Policy) BaseURLs() []string { return append([]string{p.BaseURL}, p.Replicas...) }

// CacheMarkers says whether requests mark what the server is to keep in its prompt
// cache. Most servers keep prefixes by themselves and need none.
type CacheMarkers string

// The ways to mark.
const (
	CacheMarkersNone      CacheMarkers = ""          // nothing is marked
	CacheMarkersAnthropic CacheMarkers = "anthropic" // cache_control in the content's text block
)

// ServerKind says which optional fields an endpoint takes.
type ServerKind string

// The kinds of chat-completions servers. Generic is asked for nothing optional.
const (
	ServerGeneric      ServerKind = "generic"
	ServerOpenAI       ServerKind = "openai"
	ServerVLLM         ServerKind = "vllm"
	ServerSGLang       ServerKind = "sglang"
	ServerLlama        ServerKind = "llama-server"
	ServerTransformers ServerKind = "transformers"
	ServerLlamaCpp     ServerKind = "llama_cpp"
	ServerScripted     ServerKind = "scripted"
)

// ToolFormat says how tools and calls go over the line; the canonical action is the same.
// "" is native.
type ToolFormat string

// The formats.
const (
	ToolsNative ToolFormat = "native" // the tools field and tool_calls; the server knows the model's form
	ToolsText   ToolFormat = "text"   // described in the prompt, read from the answer's text
)

// Sampling is how a policy samples when it collects. Evaluation is greedy whatever
// stands here (paper F.1).
type Sampling struct {
	Temperature float64 `json:"temperature" doc:"Sampling temperature."`
	TopP        float64 `json:"top_p" doc:"Nucleus of probability mass that is sampled from."`
	MaxTokens   int     `json:"max_tokens" doc:"Most tokens of one answer; 0 leaves it to the server."`
}

// PaperSampling is what rollouts are collected with (paper F.1).
var PaperSampling = Sampling{Temperature: 0.7, TopP: 0.9}

// Greedy is how an evaluation decodes (paper F.1).
func (s Sampling) Greedy() Sampling { return Sampling{Temperature: 0, TopP: 1, MaxTokens: s.MaxTokens} }

// PolicyLimits bounds one policy's use. Each limit holds in one worker process, for all
// versions of the policy's name together at each of its addresses.
type PolicyLimits struct {
	Concurrency       int `json:"concurrency" doc:"Most calls in flight at each address in one worker process. How many really are adapts to the server."`
	RequestsPerMinute int `json:"requests_per_minute" doc:"Requests a minute at each address in one worker process; 0: no limit."`
	TokensPerMinute   int `json:"tokens_per_minute" doc:"Tokens a minute, prompt and answer, at each address in one worker process; 0: no limit."`
	TimeoutSeconds    int `json:"timeout_seconds" doc:"Seconds that one HTTP request may take."`
	Retries           int `json:"retries" doc:"Retries after an unusable answer."`
	PatienceSeconds   int `json:"patience_seconds" doc:"Seconds that a call waits for an endpoint that is down or says that it is busy, before it fails."`
	HedgeAfterSeconds int `json:"hedge_after_seconds" doc:"Seconds without an answer after which another replica is asked too; 0: never."`
	ContextTokens     int `json:"context_tokens" doc:"Tokens of prompt and answer together, as the server was started; 0: not known. What does not fit is not sent."`
}

// DefaultPolicyLimits bound a policy that says nothing.
var DefaultPolicyLimits = PolicyLimits{Concurrency: 8, TimeoutSeconds: 600, Retries: 3, PatienceSeconds: 600}

// ChatRequest asks a policy for its action at a state.
type ChatRequest struct {
	Messages []Message // the state st
	Tools    []Tool
	Sampling Sampling
	Seed     *int64      // nil: none is sent
	Size     *PromptSize // of the prompt, as far as it is known; nil: nobody looked. Recorded with the call
	// What the call is for; recorded with it.
	TrajectoryID ID
	Attempt      int
	T            int
	Purpose      Purpose
	Urgency      *Urgency // of a label; nil: it is never raised
	Clock        Clock    // of the rollout that waits; nil: none
	// Beside says that whoever asks goes on with the answer while the call is recorded,
	// and waits for that later: see Completion.Recorded.
	Beside bool
}

// Clock counts how long a call takes that its endpoint answers, and not how long it waits for
// a place or for an endpoint that is down, nor tries that came to nothing. It goes when the
// call begins. It is safe for concurrent use.
type Clock interface {
	// Stop lets it stand.
	Stop()
	// Restart sets it going from where it was when the call began.
	Restart()
}

// Purpose says why a policy was called.
type Purpose string

// The purposes of a call.
const (
	PurposeAct   Purpose = "act"   // its action is executed (and labels the turn, for the teacher)
	PurposeLabel Purpose = "label" // its action is the label beside a student's
	PurposeProbe Purpose = "probe" // doctor
)

// Usage counts tokens as the server does.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens" doc:"Tokens of the prompt."`
	CompletionTokens int `json:"completion_tokens" doc:"Tokens of the answer."`
	CachedTokens     int `json:"cached_tokens" doc:"Tokens of the prompt that came from the server's cache."`
}

// Tokens are those of prompt and answer together; 0 where the server did not say.
func (u *Usage) Tokens() int {
	if u == nil {
		return 0
	}
	return max(u.PromptTokens, 0) + max(u.CompletionTokens, 0)
}

// Completion is one answer of a policy.
type Completion struct {
	Raw            []byte     // the canonical message; the server's own bytes, but where Said has those
	Said           []byte     // see Action
	ReadAs         []CallForm // see Action
	NotGiven       []string   // see Action
	Clamped        []string   // what the answer said beyond its bounds, and was cut or dropped
	Message        Message    // the same as DecodeMessage(Raw)
	FinishReason   string     // the server's word: stop, tool_calls, length, …
	Refusal        string
	TokenIDs       []int32   // sampled ids; nil where the server gives none
	PromptTokenIDs []int32   // nil where the server gives none
	Logprobs       []float32 // natural logarithms, aligned with TokenIDs; nil where none
	Usage          *Usage    // nil where the server does not say
	Model          string    // what the server says it ran
	Fingerprint    string    // system_fingerprint
	// Took is how long the request took that was answered, from sending it to the last byte
	// of the answer; waits for a place and failed tries are not in it.
	Took time.Duration
	// Recorded waits until the call is recorded, and fails with CodeUnavailable where it
	// could not be. It is nil where the request did not ask for that (Beside). It may be
	// called more than once.
	Recorded func() error
}

// Call records one question to a policy: all its tries together.
type Call struct {
	ID           ID          `json:"id" doc:"Its id."`
	PolicyID     ID          `json:"policy_id" doc:"The policy that was asked."`
	TrajectoryID *ID         `json:"trajectory_id,omitempty" doc:"The trajectory it was asked for."`
	Attempt      int         `json:"attempt" doc:"The attempt it was asked in."`
	T            int         `json:"t" doc:"The turn it was asked at."`
	Purpose      Purpose     `json:"purpose" doc:"act: the answer was executed. label: it labels a student's turn. probe: a test of the endpoint."`
	StartedAt    time.Time   `json:"started_at" doc:"When the first try began."`
	Millis       int64       `json:"millis" doc:"Milliseconds from the first try to the last answer."`
	Tries        int         `json:"tries" doc:"HTTP requests that it took."`
	Status       int         `json:"status" doc:"HTTP status of the last try; 0 when no answer came."`
	FinishReason string      `json:"finish_reason,omitempty" doc:"Why the model stopped, in the server's word."`
	Usage        *Usage      `json:"usage,omitempty" doc:"Tokens, as the server counts."`
	CostMicros   *int64      `json:"cost_micros,omitempty" doc:"What it cost, in millionths of the currency of the policy's price; absent where price or usage is not known."`
	Model        string      `json:"model,omitempty" doc:"The model that the server says it ran."`
	BaseURL      string      `json:"base_url,omitempty" doc:"The address that was asked last."`
	QueueMillis  int64       `json:"queue_millis" doc:"Milliseconds that it waited for a place at the endpoint, before all tries together."`
	Hedged       bool        `json:"hedged,omitempty" doc:"Whether two replicas were asked at once; each has its own record."`
	Error        string      `json:"error,omitempty" doc:"What went wrong."`
	Size         *PromptSize `json:"prompt_size,omitempty" doc:"What the prompt was taken to have before it was sent; absent where nobody looked."`
	Clamped      []string    `json:"clamped,omitempty" doc:"What the answer said beyond its bounds, and was cut or dropped: usage, logprobs, token_ids, prompt_token_ids, finish_reason, refusal, model, system_fingerprint, numbers (NaN or Infinity)."`
	ErrorBody    []byte      `json:"-"` // the last error body, capped; secrets removed
}

// ModelSeen is a model that answered for a policy at one address. More than one for an
// address means that the model behind it changed.
type ModelSeen struct {
	PolicyID    ID        `json:"policy_id" doc:"The policy."`
	BaseURL     string    `json:"base_url" doc:"The address that answered."`
	Model       string    `json:"model" doc:"The model, as its answer names it."`
	Fingerprint string    `json:"fingerprint" doc:"system_fingerprint of the answer; empty where the server gives none."`
	FirstAt     time.Time `json:"first_at" doc:"When it was first seen."`
}

// Price is what a policy's tokens cost, per million of them.
type Price struct {
	Input    float64 `json:"input" doc:"A million tokens of prompts."`
	Cached   float64 `json:"cached" doc:"A million tokens of prompts that came from the server's cache."`
	Output   float64 `json:"output" doc:"A million tokens of answers."`
	Currency string  `json:"currency" doc:"Currency, in three letters."`
	// Batch is the share of these prices that answers of the batch endpoint cost, such as
	// 0.5; 0: all of them.
	Batch float64 `json:"batch,omitempty" doc:"Share of these prices that answers of the batch endpoint cost; absent: all of them."`
}

// OfBatches is what answers of the batch endpoint cost.
func (p *Price) OfBatches() *Price {
	if p == nil || p.Batch == 0 {
		return p
	}
	return &Price{Input: p.Input * p.Batch, Cached: p.Cached * p.Batch, Output: p.Output * p.Batch, Currency: p.Currency}
}

// CostMicros is what u costs in millionths of the currency, rounded to the nearest; nil
// where price or usage is not known.
func (p *Price) CostMicros(u *Usage) *int64 {
	if p == nil || u == nil {
		return nil
	}
	// A price per million tokens is a price in millionths per token.
	cached := min(max(u.CachedTokens, 0), max(u.PromptTokens, 0))
	cost := float64(max(u.PromptTokens, 0)-cached)*p.Input + float64(cached)*p.Cached + float64(max(u.CompletionTokens, 0))*p.Output
	micros := int64(math.Round(cost))
	return &micros
}

// PolicyHealth is how a policy fares: what its last calls came to, and how its addresses
// stand for the workers right now.
type PolicyHealth struct {
	PolicyID  ID
	Recent    RecentCalls
	Addresses []AddressHealth // those of the policy, in its order; then others that its last calls asked
}

// RecentCalls sums the last calls to a policy up, at most MaxRecentCalls. Times are those
// of the calls that were answered, in milliseconds.
type RecentCalls struct {
	Calls   int
	Since   *time.Time // when the first of them began; nil without any
	Failed  int        // that came to nothing
	Retried int        // that took more than one try
	Tries   int        // of all of them
	// Median and P95 are from the first try to the last answer, waits for a place apart.
	Median, P95           int64
	QueueMedian, QueueP95 int64 // waits for a place at the endpoint
}

// MaxRecentCalls is how many calls RecentCalls looks at.
const MaxRecentCalls = 1000

// AddressHealth is how one address of a policy stands for all workers together.
type AddressHealth struct {
	EndpointActivity             // their sums; Down says why it is taken to be down where any takes it so
	Workers          int         // that have asked it, and are heard of
	DownFor          int         // of these, take it to be down
	Recent           RecentCalls // of the policy's last calls, those that asked here last
}

// Add adds what one more worker says of the address.
func (a *AddressHealth) Add(e EndpointActivity) {
	a.Workers++
	a.InFlight += e.InFlight
	a.Limit += e.Limit
	a.WaitingActs += e.WaitingActs
	a.WaitingRaised += e.WaitingRaised
	a.WaitingLabels += e.WaitingLabels
	if e.Down != "" {
		a.DownFor++
		a.Down = e.Down
	}
}

// EndpointStatus is how one worker finds an endpoint.
type EndpointStatus struct {
	URL  string // base URL without a slash at its end
	Down string // why it counts as down; "" where it answered a moment ago
}

// Outage is a policy none of whose addresses is to be had, and that queued trajectories
// wait for: they are not claimed meanwhile.
type Outage struct {
	IterationID ID        `json:"iteration_id" doc:"The iteration whose trajectories wait."`
	Role        Role      `json:"role" doc:"teacher or student."`
	Policy      string    `json:"policy" doc:"Name and version of the policy."`
	URL         string    `json:"url" doc:"Its first address."`
	Reason      string    `json:"reason" doc:"Why it counts as down."`
	Since       time.Time `json:"since" doc:"Since when it does."`
	Waiting     int       `json:"trajectories" doc:"Queued trajectories that wait for it."`
}

// Wait is where a trajectory waited for an endpoint that was down, over all attempts.
type Wait struct {
	Step string // "" where it did not
	For  time.Duration
}

// PolicyStore stores policies in versions.
type PolicyStore interface {
	// CreatePolicy stores a new version under the policy's name and returns it with its
	// version and time. The same definition as the newest version returns that one.
	CreatePolicy(ctx context.Context, p Policy) (Policy, error)
	FindPolicy(ctx context.Context, id ID) (Policy, error)
	// FindPolicyByName returns the newest version, or the one asked for as name@version.
	FindPolicyByName(ctx context.Context, name string) (Policy, error)
	// ListModels lists the models that answered for a policy, address by address in the
	// order they were first seen.
	ListModels(ctx context.Context, policy ID) ([]ModelSeen, error)
	ListPolicies(ctx context.Context, p Page) (policies []Policy, next string, err error)
}
