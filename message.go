package relabel

// The roles of a message.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// Message is one canonical chat message. Strings hold the bytes that the writer
// produced: a lone surrogate escape of a model's JSON is kept as its three-byte
// (WTF-8) form, broken UTF-8 as it came.
type Message struct {
	Role             string
	Content          string // never null: absent content is ""
	ReasoningContent string // thinking, kept apart from the content
	ToolCalls        []ToolCall
	ToolCallID       string // of a tool message: the call that it answers
}

// ToolCall is one call in an assistant message.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string // the model's own JSON text, byte for byte, valid or not
}

// Tool describes a function that a policy may call.
type Tool struct {
	Name        string `json:"name" doc:"The tool's name."`
	Description string `json:"description" doc:"What the models are told about it."`
	Parameters  string `json:"parameters" doc:"JSON Schema of its arguments, as text."`
}

// Observation is what the environment answered to one call of an action, or to an
// action without a call (then CallID is "", and a user message carries it).
type Observation struct {
	CallID   string `json:"call_id" doc:"Id of the call that it answers: call_<turn>_<k>; empty without a call."`
	Tool     string `json:"tool" doc:"The tool's name, as called."`
	Content  string `json:"content" doc:"What the models see of it."`
	ExitCode *int   `json:"exit_code,omitempty" doc:"Exit code, of execute_bash."`
	Failed   bool   `json:"failed" doc:"Whether the tool refused or failed."`
	Millis   int64  `json:"millis" doc:"Milliseconds that it took."`
}

// The ways in which a prompt's size is known before it is sent.
const (
	SizeByTokenizer = "tokenizer" // counted
	SizeByUsage     = "usage"     // what a server counted last, and a third of the bytes added since
	SizeByBytes     = "bytes"     // a quarter of the bytes: no server has counted yet
)

// PromptSize is how many tokens a prompt is taken to have before it is sent.
type PromptSize struct {
	Tokens int    `json:"tokens" doc:"Tokens."`
	By     string `json:"by" doc:"How it is known: tokenizer, usage (what the server counted last and a third of the bytes since) or bytes (a quarter of them)."`
	// NotCounted says why a prompt near its limit was estimated and not counted; "" where it
	// was counted, or was not near.
	NotCounted string `json:"not_counted,omitempty" doc:"Why a prompt near its limit was estimated and not counted by the policy's tokenizer."`
}
