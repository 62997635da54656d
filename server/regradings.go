package server

import (
	"context"
	"net/http"

	"relabel"
	"relabel/api"
)

func (s *site) addRegradings() {
	add(s, action("/v1/runs/{id}/verify", "runs", "verify-run", "Grade a run's submissions again",
		"Queues the stored submission of each done trajectory whose verdict is older than the verifier's current protections, to be graded again in a fresh container. "+
			"The new verdict replaces the current one; earlier ones are kept, and the trajectory stays done. An infrastructure error leaves the verdict unchanged. "+
			"A repeated request does not queue a trajectory twice."), s.verifyRun)
	add(s, operation(http.MethodGet, "/v1/runs/{id}/verify", "runs", "show-verify-run", "Show the state of a run's verdicts",
		"The run's verdicts by version of the verifier's protections, and the progress of grading them again."), s.showVerifyRun)
	add(s, action("/v1/runs/{id}/verify/cancel", "runs", "cancel-verify-run", "Cancel grading a run again",
		"Cancels queued and running regradings. Finished regradings keep their new verdicts."), s.cancelVerifyRun)
	add(s, operation(http.MethodGet, "/v1/trajectories/{id}/verdicts", "trajectories", "list-verdicts", "List a trajectory's verdicts",
		"All verdicts, newest first, without their outputs. The newest one without an infrastructure error is current."), s.listVerdicts)
	add(s, operation(http.MethodGet, "/v1/trajectories/{id}/regradings", "trajectories", "list-regradings", "List a trajectory's regradings",
		"The regradings of its submission with their results, newest first, at most 100."), s.listRegradings)
}

// selected returns the trajectories of a run that a request selects.
func selected(run relabel.ID, of iterationRef, trajectory *relabel.ID, all bool) relabel.RegradeSelection {
	return relabel.RegradeSelection{RunID: run, IterationID: of.id, Iteration: of.number, TrajectoryID: trajectory, All: all}
}

func (s *site) verifyRun(ctx context.Context, in *struct {
	IDPath
	Body api.Regrade
}) (*of[relabel.RegradeProgress], error) {
	if _, err := s.Store.FindRun(ctx, in.ID); err != nil {
		return nil, err
	}
	iteration, err := iterationOf(in.Body.Iteration)
	if err != nil {
		return nil, err
	}
	return one(s.Store.Regrade(ctx, selected(in.ID, iteration, in.Body.Trajectory, in.Body.All)))
}

func (s *site) showVerifyRun(ctx context.Context, in *struct {
	IDPath
	api.RegradeQuery
}) (*of[relabel.RegradeProgress], error) {
	q := &queryReader{}
	selection := selected(in.ID, q.iteration(in.Iteration), q.id("trajectory", in.Trajectory), false)
	if q.err != nil {
		return nil, q.err
	}
	return one(s.Store.RegradeProgress(ctx, selection))
}

func (s *site) cancelVerifyRun(ctx context.Context, in *struct {
	IDPath
	Body api.CancelRegrade
}) (*of[api.CancelledRegradings], error) {
	if _, err := s.Store.FindRun(ctx, in.ID); err != nil {
		return nil, err
	}
	iteration, err := iterationOf(in.Body.Iteration)
	if err != nil {
		return nil, err
	}
	n, err := s.Store.CancelRegradings(ctx, selected(in.ID, iteration, in.Body.Trajectory, false))
	return one(api.CancelledRegradings{Cancelled: n}, err)
}

func (s *site) listVerdicts(ctx context.Context, in *IDPath) (*of[api.Verdicts], error) {
	if _, err := s.Store.FindTrajectory(ctx, in.ID); err != nil {
		return nil, err
	}
	all, err := s.Store.ListVerdicts(ctx, in.ID)
	return one(api.Verdicts{Items: orEmpty(all)}, err)
}

func (s *site) listRegradings(ctx context.Context, in *IDPath) (*of[api.Regradings], error) {
	if _, err := s.Store.FindTrajectory(ctx, in.ID); err != nil {
		return nil, err
	}
	all, err := s.Store.ListRegradings(ctx, in.ID)
	return one(api.Regradings{Items: orEmpty(all)}, err)
}
