package relabel

import "time"

// ActionStatus is the status of a policy's action at a state.
type ActionStatus string

// The statuses of an action.
const (
	Pending  ActionStatus = "pending" // requested, or to be requested
	Received ActionStatus = "received"
	Missing  ActionStatus = "missing" // Reason says why
	// NotSelected is a label that was not requested because the label rule did not select the state.
	NotSelected ActionStatus = "not_selected"
)

// ParseOutcome says how an action's calls were parsed.
type ParseOutcome string

// The outcomes. The model learns of every outcome but ParsedOK as an observation. A call that
// cannot be parsed is not executed at all.
const (
	ParsedOK      ParseOutcome = "ok"
	NoCall        ParseOutcome = "no_call"
	MalformedCall ParseOutcome = "malformed_arguments" // not JSON, or not valid arguments of the tool
	UnknownTool   ParseOutcome = "unknown_tool"
	CutByLength   ParseOutcome = "cut_by_length" // finish_reason=length: the action is incomplete
	Refused       ParseOutcome = "refused"       // the model declined in the refusal field
)

// CallForm is the format in which calls or reasoning were found in the text of an answer. An
// answer that the server parsed itself has none.
type CallForm string

// The formats.
const (
	FunctionTags CallForm = "function_tags"  // <function=…><parameter=…>: tool_format text, and Qwen3-Coder's own
	ToolCallJSON CallForm = "tool_call_json" // <tool_call>{"name":…,"arguments":…}</tool_call>: Hermes, Qwen
	BareJSON     CallForm = "bare_json"      // {"name":…,"parameters":…} and nothing else: Llama
	ThinkTags    CallForm = "think_tags"     // reasoning up to </think>
	TagEscapes   CallForm = "tag_escapes"    // &lt; as tool_format text requires
)

// Action is what one policy answered at one state. The executed action at, the label
// ãt and any other teacher's answer are all Actions of the same state.
type Action struct {
	PolicyID       ID           `json:"policy_id" doc:"The policy whose action it is."`
	Status         ActionStatus `json:"status" doc:"pending: not answered yet. received: the message is available. missing: reason says why. not_selected: a label that was not requested, because the label rule did not select the state."`
	Reason         string       `json:"reason,omitempty" doc:"Why it is missing."`
	Raw            []byte       `json:"-"` // the canonical message (JSON, lossless): the server's own bytes unless Said holds those
	Said           []byte       `json:"-"` // the message as the server wrote it, if calls or reasoning were parsed from its text; else nil
	ReadAs         []CallForm   `json:"read_as,omitempty" doc:"Formats of calls or reasoning that were parsed from the text: function_tags, tool_call_json, bare_json, think_tags, tag_escapes. Absent if the server parsed its answer itself."`
	NotGiven       []string     `json:"not_given,omitempty" doc:"Requested parts that the server did not return: token_ids, prompt_token_ids, logprobs."`
	Message        Message      `json:"-"` // canonical; the same as DecodeMessage(Raw)
	FinishReason   string       `json:"finish_reason,omitempty" doc:"Why the model stopped, as the server reports it."`
	Refusal        string       `json:"refusal,omitempty" doc:"The model's refusal, if it declined."`
	Parse          ParseOutcome `json:"parse,omitempty" doc:"How its calls were parsed: ok, no_call, malformed_arguments, unknown_tool, cut_by_length or refused."`
	TokenIDs       []int32      `json:"token_ids,omitempty" doc:"Ids of the sampled tokens, if the server returns them."`
	PromptTokenIDs []int32      `json:"prompt_token_ids,omitempty" doc:"Ids of the prompt's tokens, if the server returns them. Only for a single state, because in a list they would be as long as all its states together."`
	Logprobs       []float32    `json:"logprobs,omitempty" doc:"Natural logarithms of the sampled tokens' probabilities, aligned with token_ids."`
	Usage          *Usage       `json:"usage,omitempty" doc:"Tokens, as the server counts them."`
	Model          string       `json:"model,omitempty" doc:"The model, as the server reports it."`
	Fingerprint    string       `json:"fingerprint,omitempty" doc:"system_fingerprint of the answer."`
	Millis         int64        `json:"millis" doc:"Milliseconds from sending the answered request to the last byte of the answer."`
}

// Written is the message as the server wrote it (JSON, lossless).
func (a Action) Written() []byte {
	if a.Said != nil {
		return a.Said
	}
	return a.Raw
}

// Turn is turn t of a trajectory: the state's executed action, its label and its observations.
type Turn struct {
	T            int           `json:"t"` // from 1
	Executor     Role          `json:"executor"`
	Action       Action        `json:"action"`                 // at, executed
	Label        *Action       `json:"label,omitempty"`        // ãt; equals Action if the teacher executed; nil in an evaluation
	LabelChance  *float64      `json:"label_chance,omitempty"` // probability with which the label rule asks at the state; nil: 1
	Others       []Action      `json:"others,omitempty"`       // actions of other teachers at st (relabelings), by policy id
	Observations []Observation `json:"observations"`
	Tree         string        `json:"tree"` // working-tree fingerprint after the turn
	StartedAt    time.Time     `json:"started_at"`
	EndedAt      time.Time     `json:"ended_at"`
	Time         TurnTime      `json:"time"`
}

// LabelWeight is the weight of the label, 1 / LabelChance, so that the weighted sum over the labels has the
// sum over all states as its expectation. It is 0 if the chance is.
func (t Turn) LabelWeight() float64 {
	switch {
	case t.LabelChance == nil:
		return 1
	case *t.LabelChance == 0:
		return 0
	}
	return 1 / *t.LabelChance
}

// TurnHead is a turn without its texts, which can be megabytes, for an overview of a whole
// trajectory.
type TurnHead struct {
	T            int
	Executor     Role
	Label        ActionStatus // of the label: Received if the teacher executed; "" in an evaluation
	LabelReason  string       // of a missing one, its first 300 characters
	Agrees       *bool        // of a student's turn whose label is there: does it do the same?
	Parse        ParseOutcome // of the executed action
	FinishReason string
	Tools        []string // called tools that have observations, the first 60 bytes of each name
	Failed       int      // observations whose tool failed
	ExitCode     *int     // the first one that is not 0; nil if all are
	Usage        *Usage   // of the executed action
	ActionBytes  int      // of the executed action's message
	LabelBytes   int      // of the label's message, if it is not the executed action
	OutputBytes  int64    // of all observations
	StartedAt    time.Time
	EndedAt      time.Time
}

// TurnExcerpt is a turn with the beginning and the end of each observation.
type TurnExcerpt struct {
	Turn // its Observations hold the beginnings
	// Tails and Lengths are aligned with the observations: the end of each, "" if its beginning
	// is complete, and its length in bytes.
	Tails   []string
	Lengths []int
	// ActionBytes and LabelBytes are the lengths of messages over MostActionBytes, which the
	// excerpt omits; 0 for messages that it contains.
	ActionBytes, LabelBytes int
}

// MostActionBytes is the maximum length of a message in an excerpt, far above an endpoint's
// usual limit of tokens.
const MostActionBytes = 2 << 20
