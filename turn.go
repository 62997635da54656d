package relabel

import "time"

// ActionStatus says whether a policy's action at a state is there.
type ActionStatus string

// The statuses of an action.
const (
	Owed    ActionStatus = "owed"    // asked for, or to be asked for
	Had     ActionStatus = "had"     // it is there
	Missing ActionStatus = "missing" // it cannot be had; Reason says why
)

// ParseOutcome says how an action's calls were understood.
type ParseOutcome string

// The outcomes. Everything but ParsedOK is told to the model as an observation, and
// nothing of a call that is not understood is executed.
const (
	ParsedOK      ParseOutcome = "ok"
	NoCall        ParseOutcome = "no_call"
	MalformedCall ParseOutcome = "malformed_arguments" // not JSON, or not what the tool takes
	UnknownTool   ParseOutcome = "unknown_tool"
	CutByLength   ParseOutcome = "cut_by_length" // finish_reason=length: the action is not whole
	Refused       ParseOutcome = "refused"       // the model declined in the refusal field
)

// CallForm says in which form a model's calls, or its reasoning, stood in the text of an
// answer. What its server took apart itself has no form.
type CallForm string

// The forms.
const (
	FunctionTags CallForm = "function_tags"  // <function=…><parameter=…>: tool_format text, and Qwen3-Coder's own
	ToolCallJSON CallForm = "tool_call_json" // <tool_call>{"name":…,"arguments":…}</tool_call>: Hermes, Qwen
	BareJSON     CallForm = "bare_json"      // {"name":…,"parameters":…} and nothing else: Llama
	ThinkTags    CallForm = "think_tags"     // reasoning up to </think>
	TagEscapes   CallForm = "tag_escapes"    // &lt; where tool_format text asks for it
)

// Action is what one policy answered at one state. The executed action at, the label
// ãt and any other teacher's answer are all Actions of the same state.
type Action struct {
	PolicyID       ID           `json:"policy_id" doc:"The policy whose action it is."`
	Status         ActionStatus `json:"status" doc:"owed: asked for. had: it is there. missing: it cannot be had; reason says why."`
	Reason         string       `json:"reason,omitempty" doc:"Why it is missing."`
	Raw            []byte       `json:"-"` // the canonical message (JSON, lossless): the server's own bytes, but where Said has those
	Said           []byte       `json:"-"` // the message as its server wrote it, where something in its text had to be taken apart; else nil, and Raw is that
	ReadAs         []CallForm   `json:"read_as,omitempty" doc:"How calls or reasoning that stood in the text were read: function_tags, tool_call_json, bare_json, think_tags, tag_escapes. Absent where the server took its answer apart itself."`
	NotGiven       []string     `json:"not_given,omitempty" doc:"What was asked of the server beside the message and did not come: token_ids, prompt_token_ids, logprobs."`
	Message        Message      `json:"-"` // canonical; the same as DecodeMessage(Raw)
	FinishReason   string       `json:"finish_reason,omitempty" doc:"Why the model stopped, in the server's word."`
	Refusal        string       `json:"refusal,omitempty" doc:"The model's refusal, where it declined."`
	Parse          ParseOutcome `json:"parse,omitempty" doc:"How its calls were understood: ok, no_call, malformed_arguments, unknown_tool, cut_by_length or refused."`
	TokenIDs       []int32      `json:"token_ids,omitempty" doc:"Ids of the sampled tokens, where the server gives them."`
	PromptTokenIDs []int32      `json:"prompt_token_ids,omitempty" doc:"Ids of the prompt's tokens, where the server gives them. Only where one state is shown: in a list they would be as long as all its states together."`
	Logprobs       []float32    `json:"logprobs,omitempty" doc:"Natural logarithms of the sampled tokens' probabilities, aligned with token_ids."`
	Usage          *Usage       `json:"usage,omitempty" doc:"Tokens, as the server counts."`
	Model          string       `json:"model,omitempty" doc:"The model that the server says it ran."`
	Fingerprint    string       `json:"fingerprint,omitempty" doc:"The server's fingerprint of what it ran."`
	Millis         int64        `json:"millis" doc:"Milliseconds from sending the request that was answered to its last byte."`
}

// Written is the message as its server wrote it (JSON, lossless).
func (a Action) Written() []byte {
	if a.Said != nil {
		return a.Said
	}
	return a.Raw
}

// Turn is t of a trajectory: who executed what at st, and what came of it.
type Turn struct {
	T            int           `json:"t"` // from 1
	Executor     Role          `json:"executor"`
	Action       Action        `json:"action"`           // at, executed
	Label        *Action       `json:"label,omitempty"`  // ãt; the same as Action where the teacher executed; nil in an evaluation
	Others       []Action      `json:"others,omitempty"` // what other teachers answered at st when they were asked for it; in the order of policy id
	Observations []Observation `json:"observations"`
	Tree         string        `json:"tree"` // working-tree fingerprint after the turn
	StartedAt    time.Time     `json:"started_at"`
	EndedAt      time.Time     `json:"ended_at"`
	Time         TurnTime      `json:"time"`
}

// TurnHead is a turn without its texts: what tells it from its neighbours in an overview
// of a whole trajectory, read without touching what may be as large as a megabyte.
type TurnHead struct {
	T            int
	Executor     Role
	Label        ActionStatus // of the label: Had where the teacher executed; "" in an evaluation
	LabelReason  string       // of a missing one, its first 300 characters
	Agrees       *bool        // of a student's turn whose label is there: does it do the same?
	Parse        ParseOutcome // of the executed action
	FinishReason string
	Tools        []string // that were called, as far as there are observations; the first 60 bytes of each
	Failed       int      // observations whose tool failed
	ExitCode     *int     // the first that is not 0; nil where there is none
	Usage        *Usage   // of the executed action
	ActionBytes  int      // of the executed action's message
	LabelBytes   int      // of the label's, where it is another one
	OutputBytes  int64    // of all observations
	StartedAt    time.Time
	EndedAt      time.Time
}

// TurnExcerpt is a turn whose observations are cut: of each there is the beginning and
// the end.
type TurnExcerpt struct {
	Turn // its Observations hold what each begins with
	// Tails and Lengths belong to the observations in their order: what each ends with, ""
	// where its beginning is all of it, and how many bytes it has.
	Tails   []string
	Lengths []int
	// ActionBytes and LabelBytes are the lengths of messages that are left out because they
	// are longer than MostActionBytes; 0 for those that are there.
	ActionBytes, LabelBytes int
}

// MostActionBytes is how long a message may be to be part of an excerpt: far more than an
// endpoint's limit of tokens lets through.
const MostActionBytes = 2 << 20
