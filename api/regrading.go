package api

import "relabel"

// Regrade says which trajectories of a run are graded again.
type Regrade struct {
	Iteration  string      `json:"iteration,omitempty" minLength:"1" doc:"Only trajectories of this iteration: its id, or a number i for all iterations of the run that have it."`
	Trajectory *relabel.ID `json:"trajectory,omitempty" placeholder:"ID" format:"uuid" doc:"Only this trajectory: its id."`
	All        bool        `json:"all,omitempty" doc:"Also trajectories whose verdict is already of the current version of the protections."`
}

// CancelRegrade says which regradings of a run are cancelled.
type CancelRegrade struct {
	Iteration  string      `json:"iteration,omitempty" minLength:"1" doc:"Only of this iteration: its id, or a number i for all iterations of the run that have it."`
	Trajectory *relabel.ID `json:"trajectory,omitempty" format:"uuid" doc:"Only of this trajectory: its id."`
}

// CancelledRegradings counts what was cancelled.
type CancelledRegradings struct {
	Cancelled int `json:"cancelled" doc:"How many regradings were cancelled."`
}

// Verdicts lists verdicts.
type Verdicts struct {
	Items []relabel.Verdict `json:"items" nullable:"false" doc:"The newest first."`
}

// Regradings lists regradings.
type Regradings struct {
	Items []relabel.Regrading `json:"items" nullable:"false" doc:"The newest first."`
}
