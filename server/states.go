package server

import (
	"context"

	"relabel"
	"relabel/api"
	"relabel/chat"
)

func (s *site) showState(ctx context.Context, in *struct {
	IDPath
	T   int  `path:"t" minimum:"1" maximum:"1000000" doc:"The turn at which the state was visited, from 1."`
	Raw bool `query:"raw" doc:"Include the messages of action and label as their servers wrote them."`
}) (*of[api.StateView], error) {
	trajectory, err := s.Store.FindTrajectory(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if in.T > trajectory.Turns {
		return nil, relabel.Errorf(relabel.CodeNotFound, "it has %d turns", trajectory.Turns).On("path.t")
	}
	run, err := s.Store.FindRun(ctx, trajectory.RunID)
	if err != nil {
		return nil, err
	}
	task, err := s.Store.FindTaskOf(ctx, trajectory.ID)
	if err != nil {
		return nil, err
	}
	turns, err := s.Store.FindState(ctx, in.ID, trajectory.Trail, in.T)
	if err != nil {
		return nil, err
	}
	last := in.T - 1
	state := relabel.State(run.Prompts.Opening(task), turns[:last])
	return &of[api.StateView]{viewState(trajectory, turns[last], state, run.Prompts.Tools, in.Raw)}, nil
}

func viewState(trajectory relabel.Trajectory, turn relabel.Turn, state []relabel.Message, tools []relabel.Tool, raw bool) api.StateView {
	return api.StateView{
		TrajectoryID: trajectory.ID, Attempt: trajectory.Trail, T: turn.T, Executor: turn.Executor,
		Messages: chat.AppendMessages(nil, state), Tools: chat.AppendTools(nil, tools),
		Action: viewAction(turn.Action, turn.T, raw), Label: viewLabel(turn, raw), Others: viewOthers(turn, raw),
	}
}
