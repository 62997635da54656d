package server

import (
	"context"
	"net/http"

	"relabel"
	"relabel/failuremode"
)

func (s *site) addFailures() {
	add(s, operation(http.MethodGet, "/v1/runs/{id}/failures", "runs", "report-failures", "Report a run's failure modes",
		"The done trajectories of each iteration by primary failure mode, in the layout of table 4 of the paper: submitted and unresolved ones, and those without a valid submission, each with counts, denominators and 95% intervals. "+
			"Modes are computed some seconds after a trajectory ends; those that are not yet are counted. judges has the modes that judges gave, and how they agree with the computed ones."), s.reportFailures)
	add(s, operation(http.MethodGet, "/v1/runs/{id}/disagreements", "runs", "report-disagreements", "Report where student and teacher differ",
		"The student turns with a label of each collect iteration's done trajectories: how many labels differ, by tool and by phase of the student's action, and by the phases of action and label."), s.reportDisagreements)
	add(s, operation(http.MethodGet, "/v1/trajectories/{id}/failure", "trajectories", "show-failure", "Show a trajectory's failure mode",
		"Its primary failure mode with the turns that show it, and its tool-use errors. 404 before it is computed."), s.showFailure)
}

func (s *site) reportFailures(ctx context.Context, in *IDPath) (*of[relabel.FailureReport], error) {
	if _, err := s.Store.FindRun(ctx, in.ID); err != nil {
		return nil, err
	}
	return one(failuremode.Read(ctx, s.Store, in.ID))
}

func (s *site) reportDisagreements(ctx context.Context, in *IDPath) (*of[relabel.DisagreementReport], error) {
	if _, err := s.Store.FindRun(ctx, in.ID); err != nil {
		return nil, err
	}
	iterations, err := s.Store.ListIterations(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	tallies, err := s.Store.ListComparisons(ctx, in.ID)
	return one(failuremode.Disagreements(in.ID, iterations, tallies), err)
}

func (s *site) showFailure(ctx context.Context, in *IDPath) (*of[relabel.FailureFinding], error) {
	if _, err := s.Store.FindTrajectory(ctx, in.ID); err != nil {
		return nil, err
	}
	return one(s.Store.FindFailure(ctx, in.ID))
}
