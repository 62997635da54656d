package server

import (
	"context"
	"net/http"
	"strconv"

	"relabel"
)

func (s *site) addTrajectories() {
	add(s, operation(http.MethodGet, "/v1/trajectories", "trajectories", "list-trajectories", "List trajectories",
		"Trajectories that fit the filter, newest first."), s.listTrajectories)
	add(s, operation(http.MethodGet, "/v1/trajectories/{id}", "trajectories", "show-trajectory", "Show a trajectory", "One trajectory without its turns."), s.showTrajectory)
	add(s, operation(http.MethodGet, "/v1/trajectories/{id}/attempts", "trajectories", "list-attempts", "List a trajectory's attempts",
		"Every try at it, in order, with the worker and the sandbox that made it."), s.listAttempts)
	add(s, operation(http.MethodGet, "/v1/trajectories/{id}/calls", "trajectories", "list-calls", "List a trajectory's model calls",
		"Every question to a policy, all its tries together, in the order they were asked."), s.listCalls)
}

// TrajectoryQuery is a filter in an address. Empty parameters do not narrow.
type TrajectoryQuery struct {
	Run       optionalID              `query:"run" doc:"Id of a run: only its trajectories."`
	Iteration optionalID              `query:"iteration" doc:"Id of an iteration: only its trajectories."`
	Task      optionalID              `query:"task" doc:"Id of a task: only its trajectories."`
	Instance  string                  `query:"instance" maxLength:"1000" doc:"Only of tasks with this instance id."`
	State     relabel.TrajectoryState `query:"state" enum:"queued,running,labelling,verifying,done,failed,cancelled" doc:"Only in this state."`
	EndReason relabel.EndReason       `query:"end_reason" enum:"finish,max_turns,context,wall_clock,no_call" doc:"Only rollouts that ended so."`
	Failure   relabel.FailureReason   `query:"failure" enum:"environment,image_missing,endpoint,verifier,secret,internal" doc:"Only failed for this reason."`
	Verdict   relabel.VerdictKind     `query:"verdict" enum:"passed,failed,error,none" doc:"Only with this verdict; error: the infrastructure's, none: not yet, or cancelled."`
	Submitted string                  `query:"submitted" enum:"true,false" doc:"Only with, or without, a valid submission."`
	Flag      string                  `query:"flag" maxLength:"60" doc:"Only with a review that has this flag; *: any flag."`
}

func (q TrajectoryQuery) filter() relabel.TrajectoryFilter {
	return relabel.TrajectoryFilter{RunID: q.Run.id, IterationID: q.Iteration.id, TaskID: q.Task.id, InstanceID: q.Instance,
		State: q.State, EndReason: q.EndReason, Failure: q.Failure, Verdict: q.Verdict, Submitted: optionalBool(q.Submitted), Flag: q.Flag}
}

// optionalBool reads what an enum has let through.
func optionalBool(word string) *bool {
	if word == "" {
		return nil
	}
	is := word == "true"
	return &is
}

func (s *site) listTrajectories(ctx context.Context, in *struct {
	TrajectoryQuery
	PageQuery
}) (*of[Page[relabel.Trajectory]], error) {
	return pageOf(s.Store.ListTrajectories(ctx, in.filter(), in.page()))
}

func (s *site) showTrajectory(ctx context.Context, in *IDPath) (*of[relabel.Trajectory], error) {
	return one(s.Store.FindTrajectory(ctx, in.ID))
}

func (s *site) listAttempts(ctx context.Context, in *struct {
	IDPath
	PageQuery
}) (*of[Page[relabel.Attempt]], error) {
	if _, err := s.Store.FindTrajectory(ctx, in.ID); err != nil {
		return nil, err
	}
	attempts, err := s.Store.ListAttempts(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return pageOf(cut(attempts, in.PageQuery, func(a relabel.Attempt) string { return strconv.Itoa(a.Number) }))
}

func (s *site) listCalls(ctx context.Context, in *struct {
	IDPath
	PageQuery
}) (*of[Page[relabel.Call]], error) {
	if _, err := s.Store.FindTrajectory(ctx, in.ID); err != nil {
		return nil, err
	}
	calls, err := s.Store.ListCalls(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return pageOf(cut(calls, in.PageQuery, func(c relabel.Call) string { return c.ID.String() }))
}
