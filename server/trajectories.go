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

// TrajectoryQuery is a filter in an address. Absent parameters do not narrow.
type TrajectoryQuery struct {
	Run          optionalID              `query:"run" doc:"Id or name of a run: only its trajectories."`
	Iteration    iterationRef            `query:"iteration" doc:"Id of an iteration, or a number i: only its trajectories; of a number, those of all iterations that have it."`
	Taskset      optionalID              `query:"taskset" doc:"Id or name of a taskset: only trajectories of runs over it."`
	Task         optionalID              `query:"task" doc:"Id of a task: only its trajectories."`
	Instance     string                  `query:"instance" maxLength:"1000" doc:"Only of tasks with this instance id."`
	InstancePart string                  `query:"instance_part" maxLength:"1000" doc:"Only of tasks whose instance id holds this, in whatever case."`
	Text         string                  `query:"q" maxLength:"1000" doc:"Only where this stands, in whatever case: in the instance id, in why it failed, in an error of its verifier, in a review's flag, note or author. Texts of turns are not looked at."`
	State        relabel.TrajectoryState `query:"state" enum:"queued,running,labelling,verifying,done,failed,cancelled" doc:"Only in this state."`
	EndReason    relabel.EndReason       `query:"end_reason" enum:"finish,max_turns,context,wall_clock,no_call,disk,sandbox_broken" doc:"Only rollouts that ended so."`
	Failure      relabel.FailureReason   `query:"failure" enum:"environment,image_missing,endpoint,verifier,secret,internal" doc:"Only failed for this reason."`
	Verdict      relabel.VerdictKind     `query:"verdict" enum:"passed,failed,error,none" doc:"Only with this verdict; error: the infrastructure's, none: not yet, or cancelled."`
	Reason       relabel.VerdictReason   `query:"verdict_reason" enum:"passed,tests,tests_timed_out,tests_did_not_finish,tests_tampered,empty_patch,patch_does_not_apply,patch_unsafe" doc:"Only with a verdict for this reason."`
	Submitted    string                  `query:"submitted" enum:"true,false" doc:"Only with, or without, a valid submission."`
	Resolved     string                  `query:"resolved" enum:"true,false" doc:"true: only resolved, that is submitted and passed; false: only with a verdict and not resolved."`
	Labels       string                  `query:"labels" enum:"missing" doc:"missing: only where some label could not be had."`
	TurnsMin     optionalNumber          `query:"turns_min" minimum:"0" maximum:"2147483647" doc:"Only with as many turns, or more."`
	TurnsMax     optionalNumber          `query:"turns_max" minimum:"0" maximum:"2147483647" doc:"Only with as many turns, or fewer."`
	AgreementMin optionalNumber          `query:"agreement_min" minimum:"0" maximum:"1" doc:"Only with this agreement, 0 to 1, or more."`
	AgreementMax optionalNumber          `query:"agreement_max" minimum:"0" maximum:"1" doc:"Only with this agreement, 0 to 1, or less."`
	Flag         string                  `query:"flag" maxLength:"60" doc:"Only with a review that has this flag; *: any flag."`
	Reviewed     string                  `query:"reviewed" enum:"true,false" doc:"Only with, or without, a review."`
}

func (q TrajectoryQuery) filter() relabel.TrajectoryFilter {
	return relabel.TrajectoryFilter{RunID: q.Run.id, IterationID: q.Iteration.id, IterationNumber: q.Iteration.number, TasksetID: q.Taskset.id,
		TaskID: q.Task.id, InstanceID: q.Instance, InstancePart: q.InstancePart, Text: q.Text,
		State: q.State, EndReason: q.EndReason, Failure: q.Failure, Verdict: q.Verdict, VerdictReason: q.Reason, Submitted: optionalBool(q.Submitted), Resolved: optionalBool(q.Resolved), LabelsMissing: q.Labels == "missing",
		MinTurns: q.TurnsMin.whole(), MaxTurns: q.TurnsMax.whole(), MinAgreement: q.AgreementMin.value, MaxAgreement: q.AgreementMax.value,
		Flag: q.Flag, Reviewed: optionalBool(q.Reviewed)}
}

// SortQuery is the order of a list of trajectories.
type SortQuery struct {
	Sort relabel.TrajectorySort `query:"sort" enum:"newest,oldest,most_turns,fewest_turns,most_tokens,fewest_tokens,highest_agreement,lowest_agreement,earliest_difference,latest_difference" default:"newest" doc:"By a figure, trajectories that are over and have it come first, then the others, newest first."`
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
	SortQuery
	PageQuery
	Before string `query:"before" maxLength:"512" doc:"The previous of the page after; instead of after."`
}) (*of[relabel.TrajectoryPage], error) {
	p := in.page()
	p.Before = in.Before
	page, err := s.Store.ListTrajectories(ctx, in.filter(), in.Sort, p)
	if page.Items == nil {
		page.Items = []relabel.Trajectory{}
	}
	return one(page, err)
}

func (s *site) searchTexts(ctx context.Context, in *struct {
	TrajectoryQuery
	SortQuery
	PageQuery
	Words string `query:"text" required:"true" minLength:"1" maxLength:"500" doc:"The text that is looked for, as it is, but for the case of its letters."`
}) (*of[relabel.TextPage], error) {
	p := in.page()
	page, err := s.Store.SearchTexts(ctx, in.filter(), in.Sort, relabel.TextSearch{Text: in.Words, After: p.After, Limit: p.Limit})
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
	PageQuery
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
	PageQuery
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
