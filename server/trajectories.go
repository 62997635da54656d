package server

import (
	"context"
	"net/http"
	"strconv"

	"relabel"
	"relabel/api"
)

func (s *site) addTrajectories() {
	add(s, operation(http.MethodGet, "/v1/trajectories", "trajectories", "list-trajectories", "List trajectories",
		"Matching trajectories, with their number and the number of all."), s.listTrajectories)
	search := operation(http.MethodGet, "/v1/trajectories/search", "trajectories", "search-texts", "Search in texts of trajectories",
		"Searches for a text, in any case, in the actions, labels, other teachers' answers, observations, problem statements, failures, submissions and test outputs of the matching trajectories. "+
			"A request takes a few seconds at most: its answer counts the searched trajectories and has the position to continue from. 429 if there are too many concurrent searches.")
	search.Errors = append(search.Errors, http.StatusTooManyRequests)
	add(s, search, s.searchTexts)
	add(s, operation(http.MethodGet, "/v1/trajectories/{id}", "trajectories", "show-trajectory", "Show a trajectory", "One trajectory without its turns."), s.showTrajectory)
	add(s, operation(http.MethodGet, "/v1/trajectories/{id}/attempts", "trajectories", "list-attempts", "List a trajectory's attempts",
		"All attempts in order, with their workers and sandboxes."), s.listAttempts)
	add(s, operation(http.MethodGet, "/v1/trajectories/{id}/calls", "trajectories", "list-calls", "List a trajectory's model calls",
		"All calls to policies in order, each with all its tries."), s.listCalls)
}

// trajectoryFilter reads the filter of a query.
func trajectoryFilter(in api.TrajectoryQuery) (relabel.TrajectoryFilter, error) {
	q := &queryReader{}
	iteration := q.iteration(in.Iteration)
	return relabel.TrajectoryFilter{
		RunID: q.id("run", in.Run), IterationID: iteration.id, IterationNumber: iteration.number,
		TasksetID: q.id("taskset", in.Taskset), TaskID: q.id("task", in.Task),
		InstanceID: in.Instance, InstancePart: in.InstancePart, Text: in.Text,
		State: in.State, EndReason: in.EndReason, Failure: in.Failure, Verdict: in.Verdict, VerdictReason: in.Reason,
		FailureMode: in.FailureMode, JudgedMode: in.JudgedMode, ToolUseError: in.ToolUseError,
		Submitted: optionalBool(in.Submitted), Resolved: optionalBool(in.Resolved), Hit: optionalBool(in.Hit), LabelsMissing: in.Labels == "missing",
		MinTurns: q.whole("turns_min", in.TurnsMin), MaxTurns: q.whole("turns_max", in.TurnsMax),
		MinAgreement: q.number("agreement_min", in.AgreementMin), MaxAgreement: q.number("agreement_max", in.AgreementMax),
		MinScore: q.number("score_min", in.ScoreMin), MaxScore: q.number("score_max", in.ScoreMax),
		Flag: in.Flag, Reviewed: optionalBool(in.Reviewed),
	}, q.err
}

func (s *site) listTrajectories(ctx context.Context, in *api.TrajectoryPageQuery) (*of[relabel.TrajectoryPage], error) {
	filter, err := trajectoryFilter(in.TrajectoryQuery)
	if err != nil {
		return nil, err
	}
	page, err := s.Store.ListTrajectories(ctx, filter, in.Sort, relabel.Page{After: in.After, Before: in.Before, Limit: in.Limit})
	if page.Items == nil {
		page.Items = []relabel.Trajectory{}
	}
	return one(page, err)
}

func (s *site) searchTexts(ctx context.Context, in *api.TextQuery) (*of[relabel.TextPage], error) {
	filter, err := trajectoryFilter(in.TrajectoryQuery)
	if err != nil {
		return nil, err
	}
	page, err := s.Store.SearchTexts(ctx, filter, in.Sort, relabel.TextSearch{Text: in.Words, After: in.After, Limit: in.Limit})
	if page.Items == nil {
		page.Items = []relabel.TextFound{}
	}
	return one(page, err)
}

func (s *site) showTrajectory(ctx context.Context, in *IDPath) (*of[relabel.Trajectory], error) {
	return one(s.Store.FindTrajectory(ctx, in.ID))
}

func (s *site) listAttempts(ctx context.Context, in *struct {
	IDPath
	api.PageQuery
}) (*of[api.Page[relabel.Attempt]], error) {
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
	api.PageQuery
}) (*of[api.Page[relabel.Call]], error) {
	if _, err := s.Store.FindTrajectory(ctx, in.ID); err != nil {
		return nil, err
	}
	calls, err := s.Store.ListCalls(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return pageOf(cut(calls, in.PageQuery, func(c relabel.Call) string { return c.ID.String() }))
}
