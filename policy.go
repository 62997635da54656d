package relabel

import "time"

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
	ID           ID           `json:"id"`
	Name         string       `json:"name"`
	Version      int          `json:"version"`            // from 1
	BaseURL      string       `json:"base_url"`           // up to and with /v1
	Replicas     []string     `json:"replicas,omitempty"` // further addresses that serve the same model
	Model        string       `json:"model"`
	Server       ServerKind   `json:"server"`
	ToolFormat   ToolFormat   `json:"tool_format"`
	Secret       string       `json:"secret,omitempty"` // the NAME of a secret; never its value
	Sampling     Sampling     `json:"sampling"`
	Limits       PolicyLimits `json:"limits"`
	Price        *Price       `json:"price,omitempty"` // nil: what it costs is not known
	CacheMarkers CacheMarkers `json:"cache_markers,omitempty"`
	// Tokenizer is the model's tokenizer as it was named: the name or the hash of a registered
	// one, whose hash is in TokenizerHash, or else a path below --tokenizers. TemplateText is
	// another chat template than the tokenizer's own, ChatTemplate the path of a file with one,
	// below --tokenizers as well. All may be empty.
	Tokenizer     string    `json:"tokenizer,omitempty"`
	TokenizerHash string    `json:"tokenizer_hash,omitempty"`
	ChatTemplate  string    `json:"chat_template,omitempty"`
	TemplateText  string    `json:"template_text,omitempty"`
	CreatedAt     time.Time `json:"created_at"`
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
	Temperature float64 `json:"temperature"`
	TopP        float64 `json:"top_p"`
	MaxTokens   int     `json:"max_tokens"` // of one answer; 0 leaves it to the server
}

// PaperSampling is what rollouts are collected with (paper F.1).
var PaperSampling = Sampling{Temperature: 0.7, TopP: 0.9}

// Greedy is how an evaluation decodes (paper F.1).
func (s Sampling) Greedy() Sampling { return Sampling{Temperature: 0, TopP: 1, MaxTokens: s.MaxTokens} }

// PolicyLimits bounds one policy's use. Each limit holds in one worker process, for all
// versions of the policy's name together at each of its addresses.
type PolicyLimits struct {
	Concurrency       int `json:"concurrency"`         // most calls in flight; how many really are adapts to the server
	RequestsPerMinute int `json:"requests_per_minute"` // 0: no limit
	TokensPerMinute   int `json:"tokens_per_minute"`   // prompt and answer; 0: no limit
	TimeoutSeconds    int `json:"timeout_seconds"`     // deadline of one HTTP request
	Retries           int `json:"retries"`             // further tries after an answer that is of no use
	PatienceSeconds   int `json:"patience_seconds"`    // how long a call waits for an endpoint that is down or says "not now"
	HedgeAfterSeconds int `json:"hedge_after_seconds"` // without an answer for so long, another replica is asked too; 0: never
	ContextTokens     int `json:"context_tokens"`      // of prompt and answer together, as the server was started; 0: not known
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
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	CachedTokens     int `json:"cached_tokens"`
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
	ID           ID          `json:"id"`
	PolicyID     ID          `json:"policy_id"`
	TrajectoryID *ID         `json:"trajectory_id,omitempty"`
	Attempt      int         `json:"attempt"`
	T            int         `json:"t"`
	Purpose      Purpose     `json:"purpose"`
	StartedAt    time.Time   `json:"started_at"`
	Millis       int64       `json:"millis"` // from the first try to the last answer
	Tries        int         `json:"tries"`
	Status       int         `json:"status"` // HTTP status of the last try; 0 when no answer came
	FinishReason string      `json:"finish_reason,omitempty"`
	Usage        *Usage      `json:"usage,omitempty"`
	CostMicros   *int64      `json:"cost_micros,omitempty"` // millionths of the price's currency; nil where price or usage is not known
	Model        string      `json:"model,omitempty"`
	BaseURL      string      `json:"base_url,omitempty"` // which address was asked last; "" where none was
	QueueMillis  int64       `json:"queue_millis"`       // spent waiting for a place at the endpoint, before all tries together
	Hedged       bool        `json:"hedged,omitempty"`   // two replicas were asked at once; each has its own record
	Error        string      `json:"error,omitempty"`
	Size         *PromptSize `json:"prompt_size,omitempty"` // what the prompt was taken to have before it was sent
	Clamped      []string    `json:"clamped,omitempty"`     // what the answer said beyond its bounds, and was cut or dropped: usage, logprobs, token_ids, …
	ErrorBody    []byte      `json:"-"`                     // the last error body, capped; secrets removed
}

// ModelSeen is a model that answered for a policy at one address. More than one for an
// address means that the model behind it changed.
type ModelSeen struct {
	PolicyID    ID        `json:"policy_id"`
	BaseURL     string    `json:"base_url"`
	Model       string    `json:"model"`       // as the answer names it
	Fingerprint string    `json:"fingerprint"` // system_fingerprint; "" where the server gives none
	FirstAt     time.Time `json:"first_at"`
}
