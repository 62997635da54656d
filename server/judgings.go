package server

import (
	"context"
	"net/http"

	"relabel"
	"relabel/api"
	"relabel/judge"
)

func (s *site) addJudgings() {
	add(s, action("/v1/runs/{id}/judgings", "runs", "judge-run", "Judge the failure modes of a run",
		"Queues the judging of done and unresolved trajectories: a policy reads each one and names its primary failure mode, tool-use errors, and the turns that show them. "+
			"The computed modes stay as they are. A repeated request judges only trajectories without a judgement of this policy with the current prompt."), s.judgeRun)
	add(s, operation(http.MethodGet, "/v1/runs/{id}/judgings", "runs", "show-judgings", "Show the progress of a run's judgings",
		"Judgings by iteration, policy and prompt."), s.showJudgings)
	add(s, operation(http.MethodGet, "/v1/runs/{id}/judgings/estimate", "runs", "estimate-judgings", "Estimate the cost of judging a run",
		"Trajectories, calls, tokens and cost of the judgements that a policy has not made yet. Nothing is queued."), s.estimateJudgings)
	add(s, action("/v1/runs/{id}/judgings/cancel", "runs", "cancel-judgings", "Cancel judging a run",
		"Cancels queued and running judgings. Judgements stay; a new request judges the remaining trajectories."), s.cancelJudgings)
	add(s, operation(http.MethodGet, "/v1/judgings", "trajectories", "list-judgings", "List judgings", "Matching judgings, newest first, without the texts of the answers."), s.listJudgings)
	add(s, operation(http.MethodGet, "/v1/judgings/{id}", "trajectories", "show-judging", "Show a judging", "One judging with the last answer of the judge."), s.showJudging)
	add(s, operation(http.MethodGet, "/v1/judge-prompts/{hash}", "trajectories", "show-judge-prompt", "Show a prompt of judges",
		"The instruction that a judge got, by its hash."), s.showJudgePrompt)
}

// judging is a policy that judges a selection of a run's trajectories with a prompt.
type judging struct {
	policy    relabel.Policy
	prompt    relabel.JudgePrompt
	selection relabel.JudgeSelection
}

// findJudging resolves a request to judge.
func (s *site) findJudging(ctx context.Context, run relabel.ID, in api.NewJudging) (judging, error) {
	of, err := s.selectIterations(ctx, run, in.Iteration)
	if err != nil {
		return judging{}, err
	}
	p, err := s.findPolicy(ctx, in.Policy)
	if err != nil {
		return judging{}, asField(err, "policy")
	}
	of.Modes, of.Sample, of.Seed = in.Modes, in.Sample, in.Seed
	return judging{p, judge.Prompt(!in.HideGold), of}, nil
}

// selectIterations selects all trajectories of a run, or of some of its iterations.
func (s *site) selectIterations(ctx context.Context, run relabel.ID, iteration string) (relabel.JudgeSelection, error) {
	if _, err := s.Store.FindRun(ctx, run); err != nil {
		return relabel.JudgeSelection{}, err
	}
	of, err := iterationOf(iteration)
	return relabel.JudgeSelection{RunID: run, IterationID: of.id, Iteration: of.number}, err
}

func (s *site) judgeRun(ctx context.Context, in *struct {
	IDPath
	Body api.NewJudging
}) (*of[api.JudgeProgresses], error) {
	ask, err := s.findJudging(ctx, in.ID, in.Body)
	if err != nil {
		return nil, err
	}
	if err := s.Store.StartJudging(ctx, ask.selection, ask.policy.ID, ask.prompt, in.Body.Priority); err != nil {
		return nil, err
	}
	all, err := s.Store.JudgeProgress(ctx, ask.selection)
	return one(api.JudgeProgresses{Items: orEmpty(all)}, err)
}

func (s *site) showJudgings(ctx context.Context, in *struct {
	IDPath
	api.JudgeProgressQuery
}) (*of[api.JudgeProgresses], error) {
	selection, err := s.selectIterations(ctx, in.ID, in.Iteration)
	if err != nil {
		return nil, err
	}
	selection.Modes, selection.Sample, selection.Seed = in.Modes, in.Sample, in.Seed
	all, err := s.Store.JudgeProgress(ctx, selection)
	return one(api.JudgeProgresses{Items: orEmpty(all)}, err)
}

func (s *site) estimateJudgings(ctx context.Context, in *struct {
	IDPath
	api.JudgeEstimateQuery
}) (*of[relabel.JudgeEstimate], error) {
	ask, err := s.findJudging(ctx, in.ID, api.NewJudging{Policy: in.Policy, Iteration: in.Iteration, Modes: in.Modes, Sample: in.Sample, Seed: in.Seed, HideGold: in.HideGold})
	if err != nil {
		return nil, err
	}
	return one(s.Store.EstimateJudging(ctx, ask.selection, ask.policy, ask.prompt))
}

func (s *site) cancelJudgings(ctx context.Context, in *struct {
	IDPath
	Body api.CancelJudgings
}) (*of[api.CancelledJudgings], error) {
	selection, err := s.selectIterations(ctx, in.ID, in.Body.Iteration)
	if err != nil {
		return nil, err
	}
	policy, err := s.optionalPolicy(ctx, in.Body.Policy)
	if err != nil {
		return nil, err
	}
	n, err := s.Store.CancelJudgings(ctx, selection, policy)
	return one(api.CancelledJudgings{Cancelled: n}, err)
}

// optionalPolicy finds the policy that a request names; nil if it names none.
func (s *site) optionalPolicy(ctx context.Context, name string) (*relabel.ID, error) {
	if name == "" {
		return nil, nil
	}
	p, err := s.findPolicy(ctx, name)
	return &p.ID, asField(err, "policy")
}

func (s *site) listJudgings(ctx context.Context, in *struct {
	api.JudgingQuery
	api.PageQuery
}) (*of[api.Page[relabel.Judging]], error) {
	q := &queryReader{}
	filter := relabel.JudgingFilter{RunID: q.id("run", in.Run), IterationID: q.id("iteration", in.Iteration),
		TrajectoryID: q.id("trajectory", in.Trajectory), PolicyID: q.id("policy", in.Policy), State: in.State, Outcome: in.Outcome}
	if q.err != nil {
		return nil, q.err
	}
	return pageOf(s.Store.ListJudgings(ctx, filter, page(in.PageQuery)))
}

func (s *site) showJudging(ctx context.Context, in *IDPath) (*of[relabel.Judging], error) {
	return one(s.Store.FindJudging(ctx, in.ID))
}

func (s *site) showJudgePrompt(ctx context.Context, in *struct {
	Hash string `path:"hash" pattern:"^[0-9a-f]{64}$" doc:"Hash of the prompt."`
}) (*of[relabel.JudgePrompt], error) {
	return one(s.Store.FindJudgePrompt(ctx, in.Hash))
}
