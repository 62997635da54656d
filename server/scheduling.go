package server

import (
	"context"
	"net/http"

	"relabel"
	"relabel/api"
)

func (s *site) addScheduling() {
	add(s, operation(http.MethodPatch, "/v1/runs/{id}", "scheduling", "set-scheduling", "Change a run's priority, quota, budget or webhook",
		"Changes the given fields from the next claim on. Workers keep the trajectories that they hold beyond a smaller quota."), s.setScheduling)
	act(s, "/v1/runs/{id}/pause", "pause-run", "Pause a run",
		"Stops new claims. Workers release its trajectories within seconds after their current turn, with every turn committed. A second pause changes nothing.", s.pauseRun)
	act(s, "/v1/runs/{id}/resume", "resume-run", "Resume a run", "Ends the run's pause, for any reason, unless the weights of a running iteration's student are in doubt. An iteration that is paused itself stays paused.", s.resumeRun)
	act(s, "/v1/runs/{id}/cancel", "cancel-run", "Cancel a run", "Cancels its running iterations.", s.cancelRun)
	act(s, "/v1/iterations/{id}/pause", "pause-iteration", "Pause an iteration", "As for a run, but only this iteration.", s.pauseIteration)
	act(s, "/v1/iterations/{id}/resume", "resume-iteration", "Resume an iteration", "Ends the iteration's own pause, unless its student's weights are in doubt. Its run may still be paused.", s.resumeIteration)
	act(s, "/v1/iterations/{id}/cancel", "cancel-iteration", "Cancel an iteration",
		"Cancels every trajectory that has not ended; their model calls and commands end within seconds. Done trajectories stay.", s.cancelIteration)
	act(s, "/v1/iterations/{id}/retry", "retry-iteration", "Retry failed trajectories",
		"Queues failed trajectories again, with fresh budgets; an iteration that was done runs again. Existing exports do not change.", s.retryIteration)
}

// act registers a POST that changes a resource without creating one.
func act[I, O any](s *site, path, id, summary, description string, do func(context.Context, *I) (*O, error)) {
	add(s, action(path, "scheduling", id, summary, description), do)
}

func (s *site) setScheduling(ctx context.Context, in *struct {
	IDPath
	Body api.SchedulingPatch
}) (*of[relabel.Run], error) {
	b := in.Body
	if err := s.checkNotices(b.Budget, b.Webhook); err != nil {
		return nil, err
	}
	return one(s.Store.SetScheduling(ctx, in.ID, relabel.SchedulingChange{Priority: b.Priority, Quota: b.Quota,
		Budget: b.Budget, Webhook: b.Webhook}))
}

// PauseInput names the run or iteration to pause.
type PauseInput struct {
	IDPath
	Body *api.NewPause
}

func (in PauseInput) text() string {
	if in.Body == nil {
		return ""
	}
	return in.Body.Text
}

func (s *site) pauseRun(ctx context.Context, in *PauseInput) (*of[relabel.Run], error) {
	return one(s.Store.PauseRun(ctx, in.ID, relabel.PausedByUser, in.text()))
}

// ResumeInput names the run or iteration to resume.
type ResumeInput struct {
	IDPath
	Body *api.NewResume
}

func (in ResumeInput) allowed() []relabel.WeightDoubt {
	if in.Body == nil {
		return nil
	}
	return in.Body.AllowWeights
}

func (s *site) resumeRun(ctx context.Context, in *ResumeInput) (*of[relabel.Run], error) {
	if err := s.recheckRun(ctx, in.ID, in.allowed()); err != nil {
		return nil, err
	}
	return one(s.Store.ResumeRun(ctx, in.ID))
}

func (s *site) cancelRun(ctx context.Context, in *IDPath) (*of[relabel.Run], error) {
	return one(s.Store.CancelRun(ctx, in.ID))
}

func (s *site) pauseIteration(ctx context.Context, in *PauseInput) (*of[api.IterationView], error) {
	_, err := s.Store.PauseIteration(ctx, in.ID, relabel.PausedByUser, in.text())
	return s.viewAfter(ctx, in.ID, err)
}

func (s *site) resumeIteration(ctx context.Context, in *ResumeInput) (*of[api.IterationView], error) {
	it, _, err := s.Store.FindIteration(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if err := s.recheckWeights(ctx, it, in.allowed()); err != nil {
		return nil, err
	}
	_, err = s.Store.ResumeIteration(ctx, in.ID)
	return s.viewAfter(ctx, in.ID, err)
}

func (s *site) cancelIteration(ctx context.Context, in *IDPath) (*of[api.IterationView], error) {
	_, err := s.Store.CancelIteration(ctx, in.ID)
	return s.viewAfter(ctx, in.ID, err)
}

// viewAfter shows an iteration after a change that went well.
func (s *site) viewAfter(ctx context.Context, id relabel.ID, err error) (*of[api.IterationView], error) {
	if err != nil {
		return nil, err
	}
	return s.viewIteration(ctx, id)
}

func (s *site) retryIteration(ctx context.Context, in *struct {
	IDPath
	Body *api.Retry
}) (*of[api.RetryView], error) {
	var reasons []relabel.FailureReason
	if in.Body != nil {
		reasons = in.Body.Reasons
	}
	n, err := s.Store.RetryFailed(ctx, in.ID, reasons)
	if err != nil {
		return nil, err
	}
	view, err := s.viewIteration(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return one(api.RetryView{Retried: n, Iteration: view.Body}, nil)
}
