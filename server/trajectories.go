package server

import (
	"context"
	"net/http"
	"relabel/api"
	"strconv"

	"relabel"
)

func (s *site) addTrajectories() {
	add(s, operation(http.MethodGet, "/v1/trajectories", "trajectories", "list-trajectories", "List trajectories",
		"Trajectories that fit the filter, and how many of how many do."), s.listTrajectories)
	search := operation(http.MethodGet, "/v1/trajectories/search", "trajectories", "search-texts", "Search in texts of trajectories",
		"Looks for a text, in whatever case, in the actions, labels, other teachers' answers and observations of the trajectories that fit the filter, in their problem statements, in why they failed, in their submissions and in the output of their tests. "+
			"An answer takes some seconds at most: it says how many trajectories it looked through and how to go on, and says nothing of the others. 429 where too many search at once.")
	search.Errors = append(search.Errors, http.StatusTooManyRequests)
	add(s, search, s.searchTexts)
	add(s, operation(http.MethodGet, "/v1/trajectories/{id}", "trajectories", "show-trajectory", "Show a trajectory", "One trajectory without its turns."), s.showTrajectory)
	add(s, operation(http.MethodGet, "/v1/trajectories/{id}/attempts", "trajectories", "list-attempts", "List a trajectory's attempts",
		"Every try at it, in order, with the worker and the sandbox that made it."), s.listAttempts)
	add(s, operation(http.MethodGet, "/v1/trajectories/{id}/calls", "trajectories", "list-calls", "List a trajectory's model calls",
		"Every question to a policy, all its tries together, in the order they were asked."), s.listCalls)
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
		Submitted: optionalBool(in.Submitted), Resolved: optionalBool(in.Resolved), LabelsMissing: in.Labels == "missing",
		MinTurns: q.whole("turns_min", in.TurnsMin), MaxTurns: q.whole("turns_max", in.TurnsMax),
		MinAgreement: q.number("agreement_min", in.AgreementMin), MaxAgreement: q.number("agreement_max", in.AgreementMax),
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
