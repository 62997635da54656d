package relabel

// The roles of a message.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// Message is one canonical chat message. Strings hold the writer's bytes: a lone surrogate
// escape in a model's JSON is kept in its three-byte (WTF-8) form, invalid UTF-8 unchanged.
type Message struct {
	Role             string
	Content          string // never null: absent content is ""
	ReasoningContent string // thinking, separate from the content
	ToolCalls        []ToolCall
	ToolCallID       string // in a tool message: the call that it answers
}

// ToolCall is one call in an assistant message.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string // the model's own JSON text, byte for byte, valid or not
}

// Tool describes a function that a policy may call.
type Tool struct {
	Name        string `json:"name" minLength:"1" maxLength:"100" doc:"The tool's name."`
	Description string `json:"description" doc:"Its description for the models."`
	Parameters  string `json:"parameters" doc:"JSON Schema of its arguments, as text: the models see its keys in this order."`
}

// Observation is the environment's response to one call of an action, or to an action without
// a call; then CallID is "", and a user message carries it.
type Observation struct {
	CallID   string `json:"call_id" doc:"Id of the call that it answers: call_<turn>_<k>; empty without a call."`
	Tool     string `json:"tool" doc:"The tool's name, as called."`
	Content  string `json:"content" doc:"The content that the models see."`
	ExitCode *int   `json:"exit_code,omitempty" doc:"Exit code of execute_bash."`
	Failed   bool   `json:"failed" doc:"Whether the tool refused or failed."`
	Millis   int64  `json:"millis" doc:"Duration in milliseconds."`
}

// The methods of measuring a prompt's size before it is sent.
const (
	SizeByTokenizer = "tokenizer" // counted
	SizeByUsage     = "usage"     // the server's last count plus a third of the bytes added since
	SizeByBytes     = "bytes"     // a quarter of the bytes: no server has counted yet
)

// PromptSize is the number of tokens of a prompt, counted or estimated before it is sent.
type PromptSize struct {
	Tokens int    `json:"tokens" doc:"Tokens."`
	By     string `json:"by" doc:"Method: tokenizer (counted), usage (the server's last count plus a third of the bytes since) or bytes (a quarter of the bytes)."`
	// NotCounted says why a prompt near its limit was estimated and not counted; "" if it was
	// counted or not near the limit.
	NotCounted string `json:"not_counted,omitempty" doc:"Why a prompt near its limit was estimated and not counted by the policy's tokenizer."`
}
