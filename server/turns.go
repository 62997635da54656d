package server

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"
	"unicode/utf8"

	"relabel"
)

func (s *site) addTurns() {
	add(s, operation(http.MethodGet, "/v1/trajectories/{id}/turns", "trajectories", "list-turns", "List turns",
		"The current attempt's turns in order: who executed, the executed action, the teacher's label beside it, and what the environment answered."), s.listTurns)
	add(s, operation(http.MethodGet, "/v1/trajectories/{id}/states/{t}", "trajectories", "show-state", "Show a state",
		"st, the messages that executor and teacher were asked with at turn t, with the executed action at and the label ãt."), s.showState)
}

// ActionView is an action with its message.
type ActionView struct {
	relabel.Action
	Message   json.RawMessage `json:"message,omitempty" doc:"The canonical chat message: the model's own words and argument text, with call ids rewritten to call_<turn>_<k>. Absent where the action is not there."`
	Exact     bool            `json:"exact" doc:"Whether message holds every byte that the model wrote; false where they are no text that JSON can carry (then see raw)."`
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

func viewAction(a relabel.Action, t int, raw bool) ActionView {
	v, written := ActionView{Action: a}, a.Written()
	if a.Status == relabel.Had {
		v.Message = relabel.AppendMessage(nil, a.Message.Canonical(t))
		v.Exact = a.Message.ValidText()
	}
	switch {
	case !raw || len(written) == 0:
	case utf8.Valid(written) && json.Valid(written):
		v.Raw = written
	default:
		v.RawBase64 = base64.StdEncoding.EncodeToString(written)
	}
	return v
}

func viewLabel(turn relabel.Turn, raw bool) *ActionView {
	if turn.Label == nil {
		return nil
	}
	v := viewAction(*turn.Label, turn.T, raw)
	return &v
}

func viewOthers(turn relabel.Turn, raw bool) []ActionView {
	var views []ActionView
	for _, other := range turn.Others {
		views = append(views, viewAction(other, turn.T, raw))
	}
	return views
}

func viewTurn(turn relabel.Turn, raw bool) TurnView {
	v := TurnView{T: turn.T, Executor: turn.Executor, Action: viewAction(turn.Action, turn.T, raw), Label: viewLabel(turn, raw), Others: viewOthers(turn, raw),
		Observations: turn.Observations, Tree: turn.Tree, StartedAt: turn.StartedAt, EndedAt: turn.EndedAt, Time: turn.Time}
	if v.Observations == nil {
		v.Observations = []relabel.Observation{}
	}
	return v
}

// TurnPage is a page of turns.
type TurnPage struct {
	Items    []TurnView `json:"items" nullable:"false" doc:"Turns in order."`
	NextFrom int        `json:"next_from,omitempty" doc:"Pass it as from to get the next page; absent at the end."`
}

func (s *site) listTurns(ctx context.Context, in *struct {
	IDPath
	From  int  `query:"from" minimum:"1" maximum:"1000000" default:"1" doc:"First turn of the page, from 1."`
	Limit int  `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"Turns in the page, at most; 1 to 500. A page of large turns has fewer."`
	Raw   bool `query:"raw" doc:"Also give the messages as their servers wrote them."`
}) (*of[TurnPage], error) {
	trajectory, err := s.Store.FindTrajectory(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	turns, err := s.Store.ListTurns(ctx, in.ID, in.From, in.Limit)
	if err != nil {
		return nil, err
	}
	page := TurnPage{Items: make([]TurnView, 0, len(turns))}
	for _, turn := range turns {
		page.Items = append(page.Items, viewTurn(turn, in.Raw))
	}
	if len(turns) > 0 && turns[len(turns)-1].T < trajectory.Turns {
		page.NextFrom = turns[len(turns)-1].T + 1
	}
	return &of[TurnPage]{page}, nil
}
