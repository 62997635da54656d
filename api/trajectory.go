package api

import (
	"encoding/json"
	"relabel"
	"time"
)

// ActionView is an action with its message.
type ActionView struct {
	relabel.Action
	Message   json.RawMessage `json:"message,omitempty" doc:"The canonical chat message: the model's own words and argument text, with call ids rewritten to call_<turn>_<k>. Absent if the action is not there."`
	Exact     bool            `json:"exact" doc:"Whether message holds every byte that the model wrote; false if they are no text that JSON can carry (then see raw)."`
	Raw       json.RawMessage `json:"raw,omitempty" doc:"The message as its server wrote it; only when asked for with raw=true. Where read_as is there, calls or reasoning stood in its text and message is what they were read as."`
	RawBase64 string          `json:"raw_base64,omitempty" doc:"The same in base64, where those bytes are no UTF-8 JSON."`
}

// TurnView is a turn with its messages.
type TurnView struct {
	T            int                   `json:"t" doc:"The turn's number, from 1."`
	Executor     relabel.Role          `json:"executor" doc:"Who acted: teacher (bt=1) or student (bt=0)."`
	Action       ActionView            `json:"action" doc:"at, the action that was executed."`
	Label        *ActionView           `json:"label,omitempty" doc:"ãt, the teacher's action at the same state; the executed one where the teacher acted. Absent in an evaluation."`
	Others       []ActionView          `json:"others,omitempty" doc:"What other teachers answered at the same state, where relabelings asked them."`
	Observations []relabel.Observation `json:"observations" nullable:"false" doc:"What the environment answered, one for each call in order."`
	Tree         string                `json:"tree" doc:"Fingerprint of the working tree after the turn."`
	StartedAt    time.Time             `json:"started_at" doc:"When the turn began."`
	EndedAt      time.Time             `json:"ended_at" doc:"When the turn was committed."`
	Time         relabel.TurnTime      `json:"time" doc:"Where its time went beside its action's millis."`
}

// TurnPage is a page of turns.
type TurnPage struct {
	Items    []TurnView `json:"items" nullable:"false" doc:"Turns in order."`
	NextFrom int        `json:"next_from,omitempty" doc:"Pass it as from to get the next page; absent at the end."`
}

// StateView is a state with what was answered there.
type StateView struct {
	TrajectoryID relabel.ID      `json:"trajectory_id" doc:"The trajectory."`
	Attempt      int             `json:"attempt" doc:"The attempt that visited the state."`
	T            int             `json:"t" doc:"The turn, from 1."`
	Executor     relabel.Role    `json:"executor" doc:"Who acted here: teacher or student."`
	Messages     json.RawMessage `json:"messages" doc:"st: the opening and every earlier turn's executed action and observations, the same for teacher and student. No label has a part in it. A policy is sent these messages, but for what its kind of server would refuse: arguments that are no JSON object, text that is no UTF-8, reasoning; and with tool_format text, as text alone."`
	Tools        json.RawMessage `json:"tools" doc:"The tool descriptions that went with it."`
	Action       ActionView      `json:"action" doc:"at, the action that was executed here."`
	Label        *ActionView     `json:"label,omitempty" doc:"ãt, the teacher's action here. Absent in an evaluation."`
	Others       []ActionView    `json:"others,omitempty" doc:"What other teachers answered here, where relabelings asked them."`
}

// VerdictView is a verdict with its output.
type VerdictView struct {
	relabel.Verdict
	Output string `json:"output" doc:"Output of the test command, capped by the verifier; bytes that are no UTF-8 stand as U+FFFD."`
}
