package server

import (
	"context"
	"encoding/json"

	"relabel"
)

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

func (s *site) showState(ctx context.Context, in *struct {
	IDPath
	T   int  `path:"t" minimum:"1" maximum:"1000000" doc:"The turn at which the state was visited, from 1."`
	Raw bool `query:"raw" doc:"Also give the messages of action and label as their servers wrote them."`
}) (*of[StateView], error) {
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
	task, err := s.Store.FindTask(ctx, trajectory.TaskID)
	if err != nil {
		return nil, err
	}
	turns, err := s.Store.FindState(ctx, in.ID, trajectory.Trail, in.T)
	if err != nil {
		return nil, err
	}
	last := in.T - 1
	state := relabel.State(run.Prompts.Opening(task), turns[:last])
	return &of[StateView]{viewState(trajectory, turns[last], state, run.Prompts.Tools, in.Raw)}, nil
}

func viewState(trajectory relabel.Trajectory, turn relabel.Turn, state []relabel.Message, tools []relabel.Tool, raw bool) StateView {
	return StateView{
		TrajectoryID: trajectory.ID, Attempt: trajectory.Trail, T: turn.T, Executor: turn.Executor,
		Messages: relabel.AppendMessages(nil, state), Tools: relabel.AppendTools(nil, tools),
		Action: viewAction(turn.Action, turn.T, raw), Label: viewLabel(turn, raw), Others: viewOthers(turn, raw),
	}
}
