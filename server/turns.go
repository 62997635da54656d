package server

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"unicode/utf8"

	"relabel"
	"relabel/api"
	"relabel/chat"
)

func (s *site) addTurns() {
	add(s, operation(http.MethodGet, "/v1/trajectories/{id}/turns", "trajectories", "list-turns", "List turns",
		"The current attempt's turns in order: executor, executed action, the teacher's label, and the environment's observations."), s.listTurns)
	add(s, operation(http.MethodGet, "/v1/trajectories/{id}/states/{t}", "trajectories", "show-state", "Show a state",
		"st, the messages that executor and teacher were asked with at turn t, with the executed action at and the label ãt."), s.showState)
}

func viewAction(a relabel.Action, t int, raw bool) api.ActionView {
	v, written := api.ActionView{Action: a}, a.Written()
	if a.Status == relabel.Received {
		v.Message = chat.AppendMessage(nil, a.Message.Canonical(t))
		v.Exact = chat.ValidText(a.Message)
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

func viewLabel(turn relabel.Turn, raw bool) *api.ActionView {
	if turn.Label == nil {
		return nil
	}
	v := viewAction(*turn.Label, turn.T, raw)
	return &v
}

func viewOthers(turn relabel.Turn, raw bool) []api.ActionView {
	var views []api.ActionView
	for _, other := range turn.Others {
		views = append(views, viewAction(other, turn.T, raw))
	}
	return views
}

func viewTurn(turn relabel.Turn, raw bool) api.TurnView {
	v := api.TurnView{T: turn.T, Executor: turn.Executor, Action: viewAction(turn.Action, turn.T, raw), Label: viewLabel(turn, raw), LabelChance: turn.LabelChance, Others: viewOthers(turn, raw),
		Observations: turn.Observations, Tree: turn.Tree, StartedAt: turn.StartedAt, EndedAt: turn.EndedAt, Time: turn.Time}
	if v.Observations == nil {
		v.Observations = []relabel.Observation{}
	}
	return v
}

func (s *site) listTurns(ctx context.Context, in *struct {
	IDPath
	api.TurnQuery
}) (*of[api.TurnPage], error) {
	trajectory, err := s.Store.FindTrajectory(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	turns, err := s.Store.ListTurns(ctx, in.ID, in.From, in.Limit)
	if err != nil {
		return nil, err
	}
	page := api.TurnPage{Items: make([]api.TurnView, 0, len(turns))}
	for _, turn := range turns {
		page.Items = append(page.Items, viewTurn(turn, in.Raw))
	}
	if len(turns) > 0 && turns[len(turns)-1].T < trajectory.Turns {
		page.NextFrom = turns[len(turns)-1].T + 1
	}
	return &of[api.TurnPage]{page}, nil
}
