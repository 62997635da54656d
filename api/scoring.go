package api

import "relabel"

// NewScoring says whose scores of which trajectories are computed.
type NewScoring struct {
	Policy    string `json:"policy" placeholder:"POLICY" minLength:"1" maxLength:"200" doc:"The policy that scores, at temperature 1 and without its own sampling settings: the teacher, or the student itself. Its id, its name, or name@version."`
	Iteration string `json:"iteration,omitempty" minLength:"1" doc:"Only trajectories of this iteration: its id, or a number i for all iterations of the run that have it."`
	TopK      int    `json:"top_k,omitempty" placeholder:"K" minimum:"0" maximum:"20" doc:"Most probable tokens to store at each token, beside the sampled one; 8 bytes each. Default 0."`
	Priority  int    `json:"priority,omitempty" minimum:"-1000" maximum:"1000" doc:"Scorings with the highest priority run first. Default 0."`
}

// CancelScorings says whose scorings of a run are cancelled.
type CancelScorings struct {
	Policy    string `json:"policy,omitempty" minLength:"1" maxLength:"200" doc:"Only those of this policy: its id, its name, or name@version. Default: all."`
	Iteration string `json:"iteration,omitempty" minLength:"1" doc:"Only of this iteration: its id, or a number i for all iterations of the run that have it."`
}

// CancelledScorings counts what was cancelled.
type CancelledScorings struct {
	Cancelled int `json:"cancelled" doc:"How many scorings were cancelled."`
}

// ScoreQuery selects the scorings of a run.
type ScoreQuery struct {
	Iteration string `query:"iteration" doc:"Only of this iteration: its id, or a number i for all iterations of the run that have it."`
}

// EstimateQuery selects what an estimate of a scoring is of.
type EstimateQuery struct {
	Policy    string `query:"policy" required:"true" minLength:"1" maxLength:"200" doc:"The policy that would score: its id, its name, or name@version."`
	Iteration string `query:"iteration" doc:"Only trajectories of this iteration: its id, or a number i for all iterations of the run that have it."`
	TopK      int    `query:"top_k" minimum:"0" maximum:"20" doc:"Most probable tokens to store at each token. Default 0."`
}

// PolicyQuery names a policy.
type PolicyQuery struct {
	Policy string `query:"policy" required:"true" minLength:"1" maxLength:"200" doc:"The policy: its id, its name, or name@version."`
}

// ScoringQuery filters scorings.
type ScoringQuery struct {
	Run        string               `query:"run" maxLength:"200" doc:"Id or name of a run: only of its trajectories."`
	Iteration  string               `query:"iteration" format:"uuid" doc:"Id of an iteration: only of its trajectories."`
	Trajectory string               `query:"trajectory" format:"uuid" doc:"Only of this trajectory (its id)."`
	Policy     string               `query:"policy" maxLength:"200" doc:"Id, name (the newest version) or name@version of a policy: only its scorings."`
	State      relabel.ScoringState `query:"state" enum:"queued,running,done,failed,cancelled" doc:"Only in this state."`
}

// ScoreProgresses sums scorings up.
type ScoreProgresses struct {
	Items []relabel.ScoreProgress `json:"items" nullable:"false" doc:"One per iteration and policy."`
}

// Scores are a policy's scores of a trajectory.
type Scores struct {
	Items []relabel.Score `json:"items" nullable:"false" doc:"One per scored turn of the student, in order."`
}

// DivergenceQuery names the runs whose students are compared, and with whom.
type DivergenceQuery struct {
	Runs []string `query:"runs,explode" required:"true" arg:"" name:"run" minItems:"1" maxItems:"8" doc:"Ids or names of the runs, at most 8; given once for each."`
	DivergenceTeacher
}

// DivergenceTeacher says with whom students are compared.
type DivergenceTeacher struct {
	Policy string `query:"policy" placeholder:"POLICY" maxLength:"200" doc:"The policy that the students are compared with: its id, its name, or name@version. Default: the run's teacher."`
}
