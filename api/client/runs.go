package client

import (
	"context"
	"net/http"
	"net/url"

	"relabel"
	"relabel/api"
)

// CreateRun makes a run.
func (c *Client) CreateRun(ctx context.Context, in api.NewRun) (relabel.Run, error) {
	return post[relabel.Run](ctx, c, at("runs"), in)
}

// Runs lists all runs, newest first.
func (c *Client) Runs(ctx context.Context) ([]relabel.Run, error) {
	return list[relabel.Run](ctx, c, at("runs"), nil)
}

// Run returns a run by its id or its name.
func (c *Client) Run(ctx context.Context, word string) (api.RunView, error) {
	return get[api.RunView](ctx, c, at("runs", word))
}

// SetScheduling changes a run's priority, quota, budget or webhook.
func (c *Client) SetScheduling(ctx context.Context, id relabel.ID, in api.SchedulingPatch) (now relabel.Run, err error) {
	return now, c.Send(ctx, http.MethodPatch, at("runs", id.String()), in, &now)
}

// ResumeRun ends the pause of a run.
func (c *Client) ResumeRun(ctx context.Context, id relabel.ID, in api.NewResume) (relabel.Run, error) {
	return post[relabel.Run](ctx, c, at("runs", id.String(), "resume"), in)
}

// CancelRun cancels the iterations of a run.
func (c *Client) CancelRun(ctx context.Context, id relabel.ID) (relabel.Run, error) {
	return post[relabel.Run](ctx, c, at("runs", id.String(), "cancel"), nil)
}

// PauseRun pauses a run.
func (c *Client) PauseRun(ctx context.Context, id relabel.ID, in api.NewPause) (relabel.Run, error) {
	return post[relabel.Run](ctx, c, at("runs", id.String(), "pause"), in)
}

// RunContents counts what a run consists of.
func (c *Client) RunContents(ctx context.Context, id relabel.ID) (relabel.RunContents, error) {
	return get[relabel.RunContents](ctx, c, at("runs", id.String(), "contents"))
}

// DeleteRun deletes a run for good. A large one is deleted in the background: Deleting is then set.
func (c *Client) DeleteRun(ctx context.Context, id relabel.ID) (contents relabel.RunContents, err error) {
	return contents, c.Send(ctx, http.MethodDelete, at("runs", id.String()), nil, &contents)
}

// RunTime says where a run's time went.
func (c *Client) RunTime(ctx context.Context, id relabel.ID) (api.RunTime, error) {
	return get[api.RunTime](ctx, c, at("runs", id.String(), "time"))
}

// Deliveries lists what a run's webhook was told, newest first.
func (c *Client) Deliveries(ctx context.Context, id relabel.ID) ([]relabel.Delivery, error) {
	return list[relabel.Delivery](ctx, c, at("runs", id.String(), "webhooks"), nil)
}

// Redeliver tells a run's webhook once more.
func (c *Client) Redeliver(ctx context.Context, run, delivery relabel.ID) (relabel.Delivery, error) {
	return post[relabel.Delivery](ctx, c, at("runs", run.String(), "webhooks", delivery.String(), "redeliver"), nil)
}

// VerifyRun grades a run's submissions again.
func (c *Client) VerifyRun(ctx context.Context, id relabel.ID, in api.Regrade) (relabel.RegradeProgress, error) {
	return post[relabel.RegradeProgress](ctx, c, at("runs", id.String(), "verify"), in)
}

// VerifyProgress says how a run's verdicts stand. filter takes iteration and trajectory.
func (c *Client) VerifyProgress(ctx context.Context, id relabel.ID, filter url.Values) (relabel.RegradeProgress, error) {
	return get[relabel.RegradeProgress](ctx, c, under(at("runs", id.String(), "verify"), filter))
}

// ScoreRun has a policy score the student's tokens of a run.
func (c *Client) ScoreRun(ctx context.Context, id relabel.ID, in api.NewScoring) (api.ScoreProgresses, error) {
	return post[api.ScoreProgresses](ctx, c, at("runs", id.String(), "scores"), in)
}

// ScoreProgress sums a run's scorings by iteration and policy. filter takes iteration.
func (c *Client) ScoreProgress(ctx context.Context, id relabel.ID, filter url.Values) (api.ScoreProgresses, error) {
	return get[api.ScoreProgresses](ctx, c, under(at("runs", id.String(), "scores"), filter))
}

// EstimateScores says what scores of a run would cost. filter takes policy, iteration and top_k.
func (c *Client) EstimateScores(ctx context.Context, id relabel.ID, filter url.Values) (relabel.ScoreEstimate, error) {
	return get[relabel.ScoreEstimate](ctx, c, under(at("runs", id.String(), "scores", "estimate"), filter))
}

// CancelScores cancels a run's scorings.
func (c *Client) CancelScores(ctx context.Context, id relabel.ID, in api.CancelScorings) (api.CancelledScorings, error) {
	return post[api.CancelledScorings](ctx, c, at("runs", id.String(), "scores", "cancel"), in)
}

// SimulateLabels compares label rules on a run's labels. filter takes rule, which may be repeated.
func (c *Client) SimulateLabels(ctx context.Context, id relabel.ID, filter url.Values) (relabel.LabelSimulation, error) {
	return get[relabel.LabelSimulation](ctx, c, under(at("runs", id.String(), "label-rules"), filter))
}

// CancelVerify cancels grading a run again.
func (c *Client) CancelVerify(ctx context.Context, id relabel.ID, in api.CancelRegrade) (api.CancelledRegradings, error) {
	return post[api.CancelledRegradings](ctx, c, at("runs", id.String(), "verify", "cancel"), in)
}

// JudgeRun has a policy judge the failure modes of a run's trajectories.
func (c *Client) JudgeRun(ctx context.Context, id relabel.ID, in api.NewJudging) (api.JudgeProgresses, error) {
	return post[api.JudgeProgresses](ctx, c, at("runs", id.String(), "judgings"), in)
}

// JudgeProgress sums a run's judgings by iteration, policy and prompt. filter takes iteration.
func (c *Client) JudgeProgress(ctx context.Context, id relabel.ID, filter url.Values) (api.JudgeProgresses, error) {
	return get[api.JudgeProgresses](ctx, c, under(at("runs", id.String(), "judgings"), filter))
}

// EstimateJudgings says what judging a run would cost. filter takes what api.JudgeEstimateQuery has.
func (c *Client) EstimateJudgings(ctx context.Context, id relabel.ID, filter url.Values) (relabel.JudgeEstimate, error) {
	return get[relabel.JudgeEstimate](ctx, c, under(at("runs", id.String(), "judgings", "estimate"), filter))
}

// CancelJudgings cancels a run's judgings.
func (c *Client) CancelJudgings(ctx context.Context, id relabel.ID, in api.CancelJudgings) (api.CancelledJudgings, error) {
	return post[api.CancelledJudgings](ctx, c, at("runs", id.String(), "judgings", "cancel"), in)
}
