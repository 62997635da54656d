package api

import (
	"encoding/json"
	"time"

	"relabel"
)

// ActionView is an action with its message.
type ActionView struct {
	relabel.Action
	Message   json.RawMessage `json:"message,omitempty" doc:"The canonical chat message: the model's own words and argument text, with call ids rewritten to call_<turn>_<k>. Absent unless the action was received."`
	Exact     bool            `json:"exact" doc:"Whether message contains every byte of the model's answer; false if JSON cannot represent them (then see raw)."`
	Raw       json.RawMessage `json:"raw,omitempty" doc:"The message as its server wrote it; only with raw=true. If read_as is present, message contains the calls or reasoning that were parsed from its text."`
	RawBase64 string          `json:"raw_base64,omitempty" doc:"The same in base64, if the bytes are not UTF-8 JSON."`
}

// TurnView is a turn with its messages.
type TurnView struct {
	T            int                   `json:"t" doc:"The turn's number, from 1."`
	Executor     relabel.Role          `json:"executor" doc:"Executor of the turn: teacher (bt=1) or student (bt=0)."`
	Action       ActionView            `json:"action" doc:"at, the action that was executed."`
	Label        *ActionView           `json:"label,omitempty" doc:"ãt, the teacher's action at the same state; equal to the executed one if the teacher executed the turn. Absent in an evaluation."`
	LabelChance  *float64              `json:"label_chance,omitempty" doc:"Probability with which the label rule asks the teacher at the state; its inverse is the label's weight. Absent: 1."`
	Others       []ActionView          `json:"others,omitempty" doc:"Actions of other teachers at the same state, from relabelings."`
	Observations []relabel.Observation `json:"observations" nullable:"false" doc:"Observations of the environment, one per call, in order."`
	Tree         string                `json:"tree" doc:"Fingerprint of the working tree after the turn."`
	StartedAt    time.Time             `json:"started_at" doc:"When the turn began."`
	EndedAt      time.Time             `json:"ended_at" doc:"When the turn was committed."`
	Time         relabel.TurnTime      `json:"time" doc:"Its time by part, without its action's millis."`
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
	Executor     relabel.Role    `json:"executor" doc:"Executor of the turn: teacher or student."`
	Messages     json.RawMessage `json:"messages" doc:"st: the opening and every earlier turn's executed action and observations, the same for teacher and student. Labels are not part of it. A policy receives these messages without what its kind of server would refuse (arguments that are not a JSON object, invalid UTF-8, reasoning); with tool_format text it receives them as text."`
	Tools        json.RawMessage `json:"tools" doc:"The tool descriptions that were sent with the messages."`
	Action       ActionView      `json:"action" doc:"at, the action that was executed here."`
	Label        *ActionView     `json:"label,omitempty" doc:"ãt, the teacher's action here. Absent in an evaluation."`
	Others       []ActionView    `json:"others,omitempty" doc:"Actions of other teachers at this state, from relabelings."`
}

// VerdictView is a verdict with its output.
type VerdictView struct {
	relabel.Verdict
	Output string `json:"output" doc:"Output of the test command, truncated by the verifier; invalid UTF-8 is replaced by U+FFFD."`
}

// ImportedTrajectories sums up an import.
type ImportedTrajectories struct {
	Run          relabel.Run    `json:"run" doc:"The new run."`
	Iteration    relabel.ID     `json:"iteration_id" doc:"Its only iteration, which is done."`
	Trajectories int            `json:"trajectories" doc:"Imported trajectories."`
	Tasks        int            `json:"tasks" doc:"Their tasks: documents with the same instance or trajectory id have the same task."`
	Turns        int            `json:"turns" doc:"Their turns."`
	Labels       int            `json:"labels" doc:"Turns with a label: of trajectories of another relabel."`
	Ignored      map[string]int `json:"ignored" doc:"How often the documents have a field that is not kept, by field."`
}
