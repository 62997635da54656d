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
	BaseURL      string       `json:"base_url" doc:"Address of the endpoint, up to and including /v1."`
	Replicas     []string     `json:"replicas,omitempty" doc:"Further addresses that serve the same model."`
	Model        string       `json:"model" doc:"The model's name, as the server knows it."`
	Server       ServerKind   `json:"server" doc:"Kind of server."`
	ToolFormat   ToolFormat   `json:"tool_format" doc:"How tools and calls are sent: native or text."`
	Secret       string       `json:"secret,omitempty" doc:"Name of the secret that holds the API key; never the key."`
	Sampling     Sampling     `json:"sampling" doc:"Sampling settings for collection."`
	Limits       PolicyLimits `json:"limits" doc:"Limits of its calls."`
	Price        *Price       `json:"price,omitempty" doc:"Prices of its tokens; absent: unknown."`
	CacheMarkers CacheMarkers `json:"cache_markers,omitempty" doc:"How requests mark what the server should keep in its prompt cache; absent: no marks."`
	// Tokenizer is the model's tokenizer as the user gave it: the name or hash of a registered
	// one, whose hash is in TokenizerHash, or a path below --tokenizers. TemplateText replaces the
	// tokenizer's chat template, as does ChatTemplate, the path of a file below --tokenizers. All
	// may be empty.
	Tokenizer     string `json:"tokenizer,omitempty" doc:"The model's tokenizer: name or hash of a registered one, or a path below --tokenizers; absent: unknown."`
	TokenizerHash string `json:"tokenizer_hash,omitempty" doc:"Hash of the registered tokenizer's files; absent if the tokenizer is a path."`
	ChatTemplate  string `json:"chat_template,omitempty" doc:"Path of a file with its chat template, below --tokenizers; absent: the tokenizer's own."`
	TemplateText  string `json:"template_text,omitempty" doc:"Text of its chat template; absent: the tokenizer's own."`
	// What trained the model, in training.go. Untrained excludes the other two. All may be empty:
	// then it is unknown.
	TrainedOn   []TrainedOn `json:"trained_on,omitempty" doc:"The exports that it was trained on; absent: not given, or untrained."`
	TrainedFrom *ID         `json:"trained_from_id,omitempty" doc:"The policy version that this training started from; absent: not one that is registered."`
	Untrained   bool        `json:"untrained,omitempty" doc:"Whether it is the start of training: no export has trained it, and it has 0 effective samples."`
	// Weights are what relabel loaded for this version; nil: nothing.
	Weights   *LoadedWeights `json:"weights,omitempty" doc:"The weights that relabel loaded into its servers for this version; absent: none."`
	CreatedAt time.Time      `json:"created_at" doc:"When this version was created."`
}

// BaseURLs are the addresses that serve p: BaseURL, then the replicas.
func (p Policy) BaseURLs() []string { return append([]string{p.BaseURL}, p.Replicas...) }

// CacheMarkers says how requests mark what the server should keep in its prompt cache. Most
// servers cache prefixes automatically and need no marks.
type CacheMarkers string

// The ways to mark.
const (
	CacheMarkersNone      CacheMarkers = ""          // no marks
	CacheMarkersAnthropic CacheMarkers = "anthropic" // cache_control in the content's text block
)

// ServerKind says which optional request fields an endpoint accepts.
type ServerKind string

// The kinds of chat-completions servers. Requests to a generic one have no optional fields.
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

// ToolFormat says how tools and calls are sent; the canonical action is the same. "" is
// native.
type ToolFormat string

// The formats.
const (
	ToolsNative ToolFormat = "native" // the tools field and tool_calls; the server knows the model's format
	ToolsText   ToolFormat = "text"   // described in the prompt, parsed from the answer's text
)

// PolicyLimits bounds one policy's use. Each limit holds in one worker process, for all
// versions of the policy's name together at each of its addresses.
type PolicyLimits struct {
	Concurrency       int `json:"concurrency" doc:"Maximum calls in flight at each address per worker process. The actual number adapts to the server."`
	RequestsPerMinute int `json:"requests_per_minute" doc:"Requests per minute at each address per worker process; 0: no limit."`
	TokensPerMinute   int `json:"tokens_per_minute" doc:"Tokens of prompts and answers per minute at each address per worker process; 0: no limit."`
	TimeoutSeconds    int `json:"timeout_seconds" doc:"Seconds that one HTTP request may take."`
	Retries           int `json:"retries" doc:"Retries after an unusable answer."`
	PatienceSeconds   int `json:"patience_seconds" doc:"Seconds that a call waits for an endpoint that is down or busy before it fails."`
	HedgeAfterSeconds int `json:"hedge_after_seconds" doc:"Seconds without an answer after which the request is also sent to another replica; 0: never."`
	ContextTokens     int `json:"context_tokens" doc:"The server's context length: tokens of prompt and answer together; 0: unknown. A prompt that does not fit is not sent."`
}

// DefaultPolicyLimits apply when a policy sets no limits.
var DefaultPolicyLimits = PolicyLimits{Concurrency: 8, TimeoutSeconds: 600, Retries: 3, PatienceSeconds: 600}

// ChatRequest asks a policy for its action at a state.
type ChatRequest struct {
	Messages []Message // the state st
	Tools    []Tool
	Sampling Sampling
	Seed     *int64      // nil: not sent
	Size     *PromptSize // of the prompt; nil: not measured. Recorded with the call
	// The purpose of the call; recorded with it.
	TrajectoryID ID
	Attempt      int
	T            int
	Purpose      Purpose
	Urgency      *Urgency // of a label; nil: never raised
	Clock        Clock    // of the waiting rollout; nil: none
	// Beside lets the caller use the answer while the call is still being recorded, and wait
	// for the record later: see Completion.Recorded.
	Beside bool
}

// Clock measures the time of an answered request. It excludes waits for a place at the
// endpoint, waits for an endpoint that is down, and failed tries. It runs when the call begins
// and is safe for concurrent use.
type Clock interface {
	// Stop stops the clock.
	Stop()
	// Restart starts it from its reading at the beginning of the call.
	Restart()
}

// Purpose says why a policy was called.
type Purpose string

// The purposes of a call.
const (
	PurposeAct   Purpose = "act"   // the action is executed (the teacher's is also the label)
	PurposeLabel Purpose = "label" // the action is the label of a student's turn
	PurposeProbe Purpose = "probe" // a test of the endpoint by doctor
	PurposeScore Purpose = "score" // log-probabilities of a student's tokens
	PurposeJudge Purpose = "judge" // the failure mode of a trajectory
)

// Usage counts tokens as the server does.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens" doc:"Tokens of the prompt."`
	CompletionTokens int `json:"completion_tokens" doc:"Tokens of the answer."`
	CachedTokens     int `json:"cached_tokens" doc:"Tokens of the prompt that came from the server's cache."`
}

// Tokens are the tokens of prompt and answer together; 0 if the server reports none.
func (u *Usage) Tokens() int {
	if u == nil {
		return 0
	}
	return max(u.PromptTokens, 0) + max(u.CompletionTokens, 0)
}

// Completion is one answer of a policy.
type Completion struct {
	Raw            []byte     // the canonical message: the server's own bytes unless Said holds those
	Said           []byte     // see Action
	ReadAs         []CallForm // see Action
	NotGiven       []string   // see Action
	Clamped        []string   // fields that exceeded their bounds and were truncated or dropped
	Message        Message    // the same as DecodeMessage(Raw)
	FinishReason   string     // as the server reports it: stop, tool_calls, length, …
	Refusal        string
	TokenIDs       []int32   // sampled ids; nil if the server returns none
	PromptTokenIDs []int32   // nil if the server returns none
	Logprobs       []float32 // natural logarithms, aligned with TokenIDs; nil if there are none
	Usage          *Usage    // nil if the server reports none
	Model          string    // as the server reports it
	Fingerprint    string    // system_fingerprint
	// Took is the duration of the answered request, from sending it to the last byte of the
	// answer, without waits for a place and failed tries.
	Took time.Duration
	// Recorded waits until the call is recorded, and fails with CodeUnavailable if that is
	// impossible. It is nil unless the request set Beside. It may be called more than once.
	Recorded func() error
}

// Call records one request to a policy with all its tries.
type Call struct {
	ID           ID          `json:"id" doc:"Its id."`
	PolicyID     ID          `json:"policy_id" doc:"The called policy."`
	TrajectoryID *ID         `json:"trajectory_id,omitempty" doc:"The trajectory that the call was made for."`
	Attempt      int         `json:"attempt" doc:"The attempt that it was made in."`
	T            int         `json:"t" doc:"The turn that it was made at."`
	Purpose      Purpose     `json:"purpose" doc:"act: the answer was executed. label: it labels a student's turn. probe: a test of the endpoint. score: log-probabilities of a student's tokens. judge: the failure mode of the trajectory."`
	StartedAt    time.Time   `json:"started_at" doc:"When the first try began."`
	Millis       int64       `json:"millis" doc:"Milliseconds from the first try to the last answer."`
	Tries        int         `json:"tries" doc:"Number of HTTP requests."`
	Status       int         `json:"status" doc:"HTTP status of the last try; 0 without an answer."`
	FinishReason string      `json:"finish_reason,omitempty" doc:"Why the model stopped, as the server reports it."`
	Usage        *Usage      `json:"usage,omitempty" doc:"Tokens, as the server counts them."`
	CostMicros   *int64      `json:"cost_micros,omitempty" doc:"Cost, in millionths of the currency of the policy's price; absent if price or usage is unknown."`
	Model        string      `json:"model,omitempty" doc:"The model, as the server reports it."`
	BaseURL      string      `json:"base_url,omitempty" doc:"The address of the last try."`
	QueueMillis  int64       `json:"queue_millis" doc:"Milliseconds of waiting for a place at the endpoint, over all tries."`
	Hedged       bool        `json:"hedged,omitempty" doc:"Whether two replicas were called at once; each call has its own record."`
	Error        string      `json:"error,omitempty" doc:"What went wrong."`
	Size         *PromptSize `json:"prompt_size,omitempty" doc:"The prompt's size as known before it was sent; absent if it was not measured."`
	Sampling     *Sampling   `json:"sampling,omitempty" doc:"The sampling settings that were sent; absent for calls of earlier versions."`
	Clamped      []string    `json:"clamped,omitempty" doc:"Fields of the answer that exceeded their bounds and were truncated or dropped: usage, logprobs, token_ids, prompt_token_ids, finish_reason, refusal, model, system_fingerprint, numbers (NaN or Infinity)."`
	ErrorBody    []byte      `json:"-"` // the last error body, truncated, without secrets
}

// ModelSeen is a model that answered for a policy at one address. Several at one address
// mean that the model behind it changed.
type ModelSeen struct {
	PolicyID    ID        `json:"policy_id" doc:"The policy."`
	BaseURL     string    `json:"base_url" doc:"The address that answered."`
	Model       string    `json:"model" doc:"The model, as the answer reports it."`
	Fingerprint string    `json:"fingerprint" doc:"system_fingerprint of the answer; empty if the server returns none."`
	FirstAt     time.Time `json:"first_at" doc:"When it was first seen."`
}

// Price is what a policy's tokens cost, per million.
type Price struct {
	Input    float64 `json:"input" doc:"Per million tokens of prompts."`
	Cached   float64 `json:"cached" doc:"Per million tokens of prompts that came from the server's cache."`
	Output   float64 `json:"output" doc:"Per million tokens of answers."`
	Currency string  `json:"currency" doc:"Currency code of three letters, such as USD."`
	// Batch is the share of these prices that the batch endpoint charges, such as 0.5; 0: the
	// full price.
	Batch float64 `json:"batch,omitempty" doc:"Share of these prices that the batch endpoint charges; absent: the full price."`
}

// OfBatches returns the price of the batch endpoint.
func (p *Price) OfBatches() *Price {
	if p == nil || p.Batch == 0 {
		return p
	}
	return &Price{Input: p.Input * p.Batch, Cached: p.Cached * p.Batch, Output: p.Output * p.Batch, Currency: p.Currency}
}

// CostMicros returns the cost of u in millionths of the currency, rounded to the nearest; nil
// if price or usage is unknown.
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

// PolicyHealth summarizes a policy's last calls and the current state of its addresses.
type PolicyHealth struct {
	PolicyID  ID
	Recent    RecentCalls
	Addresses []AddressHealth // the policy's, in its order; then others that its last calls used
}

// RecentCalls summarizes the last calls to a policy, at most MaxRecentCalls. Times are those of
// answered calls, in milliseconds.
type RecentCalls struct {
	Calls   int
	Since   *time.Time // when the first of them began; nil without any
	Failed  int        // without an answer after all tries
	Retried int        // with more than one try
	Tries   int        // of all calls
	// Median and P95 are from the first try to the last answer, without waits for a place.
	Median, P95           int64
	QueueMedian, QueueP95 int64 // waits for a place at the endpoint
}

// MaxRecentCalls bounds the calls that RecentCalls summarizes.
const MaxRecentCalls = 1000

// AddressHealth is the state of one address of a policy for all workers together.
type AddressHealth struct {
	EndpointActivity             // sums over the workers; Down is the reason of one that counts it as down
	Workers          int         // live workers that have called it
	DownFor          int         // of these, those that count it as down
	Recent           RecentCalls // of the policy's last calls, those whose last try went here
}

// Add adds one worker's activity at the address.
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

// EndpointStatus is the state of an endpoint for one worker.
type EndpointStatus struct {
	URL  string // base URL without a trailing slash
	Down string // why it counts as down; "" if it answered recently
}

// Outage is a policy all of whose addresses are down, and that queued trajectories wait for.
// They are not claimed meanwhile.
type Outage struct {
	IterationID ID        `json:"iteration_id" doc:"The iteration whose trajectories wait."`
	Role        Role      `json:"role" doc:"teacher or student."`
	Policy      string    `json:"policy" doc:"Name and version of the policy."`
	URL         string    `json:"url" doc:"Its first address."`
	Reason      string    `json:"reason" doc:"Why it counts as down."`
	Since       time.Time `json:"since" doc:"When it went down."`
	Waiting     int       `json:"trajectories" doc:"Queued trajectories that wait for it."`
}

// Wait is a trajectory's wait for an endpoint that was down, over all attempts.
type Wait struct {
	Step string // the waiting step; "" if it did not wait
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
	// ListModels lists the models that answered for a policy, by address and then in the order
	// of first appearance.
	ListModels(ctx context.Context, policy ID) ([]ModelSeen, error)
	ListPolicies(ctx context.Context, p Page) (policies []Policy, next string, err error)
	// FindTrained returns what policy versions say of training on an export, deleted or not, preferably
	// with epochs of its run's trainer settings. CodeNotFound if none was trained on it.
	FindTrained(ctx context.Context, export ID) (TrainedOn, error)
	// ListTrainingChain lists a policy, the one that its training started from, and so on.
	ListTrainingChain(ctx context.Context, policy ID) ([]Policy, error)
}
