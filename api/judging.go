package api

import "relabel"

// NewJudging says who judges which trajectories.
type NewJudging struct {
	Policy    string                `json:"policy" placeholder:"POLICY" minLength:"1" maxLength:"200" doc:"The judge: a policy that answers with the failure mode of a trajectory, at its own sampling settings. Its id, its name, or name@version."`
	Iteration string                `json:"iteration,omitempty" minLength:"1" doc:"Only trajectories of this iteration: its id, or a number i for all iterations of the run that have it."`
	Modes     []relabel.FailureMode `json:"modes,omitempty" name:"mode" minItems:"1" maxItems:"8" uniqueItems:"true" help:"Only trajectories with this computed failure mode; may be repeated. Default: all done and unresolved ones." enum:"loop,overflow,budget,no_edit,other,syntax_or_runtime,wrong_file,wrong_solution" doc:"Only trajectories with one of these computed failure modes. Default: all done and unresolved ones."`
	Sample    int                   `json:"sample,omitempty" placeholder:"N" minimum:"0" doc:"Only N of these trajectories, drawn with seed. Default 0: all."`
	Seed      int64                 `json:"seed,omitempty" placeholder:"N" doc:"Seed of the sample. Default 0."`
	HideGold  bool                  `json:"hide_gold,omitempty" doc:"Do not show the gold patch to the judge. It is shown by default where the task has one."`
	Priority  int                   `json:"priority,omitempty" minimum:"-1000" maximum:"1000" doc:"Judgings with the highest priority run first. Default 0."`
}

// JudgeEstimateQuery selects what an estimate of judgings is of.
type JudgeEstimateQuery struct {
	Policy    string                `query:"policy" required:"true" minLength:"1" maxLength:"200" doc:"The policy that would judge: its id, its name, or name@version."`
	Iteration string                `query:"iteration" doc:"Only trajectories of this iteration: its id, or a number i for all iterations of the run that have it."`
	Modes     []relabel.FailureMode `query:"modes" enum:"loop,overflow,budget,no_edit,other,syntax_or_runtime,wrong_file,wrong_solution" doc:"Only trajectories with one of these computed failure modes."`
	Sample    int                   `query:"sample" minimum:"0" doc:"Only this many of these trajectories, drawn with seed."`
	Seed      int64                 `query:"seed" doc:"Seed of the sample."`
	HideGold  bool                  `query:"hide_gold" doc:"Without the gold patch."`
}

// CancelJudgings says whose judgings of a run are cancelled.
type CancelJudgings struct {
	Policy    string `json:"policy,omitempty" minLength:"1" maxLength:"200" doc:"Only those of this policy: its id, its name, or name@version. Default: all."`
	Iteration string `json:"iteration,omitempty" minLength:"1" doc:"Only of this iteration: its id, or a number i for all iterations of the run that have it."`
}

// CancelledJudgings counts what was cancelled.
type CancelledJudgings struct {
	Cancelled int `json:"cancelled" doc:"How many judgings were cancelled."`
}

// JudgeProgressQuery selects the judgings of a run.
type JudgeProgressQuery struct {
	Iteration string                `query:"iteration" doc:"Only of this iteration: its id, or a number i for all iterations of the run that have it."`
	Modes     []relabel.FailureMode `query:"modes" enum:"loop,overflow,budget,no_edit,other,syntax_or_runtime,wrong_file,wrong_solution" doc:"Only of trajectories that a request with these modes would select now."`
	Sample    int                   `query:"sample" minimum:"0" doc:"Only of trajectories that a request with this sample would select now."`
	Seed      int64                 `query:"seed" doc:"Seed of the sample."`
}

// JudgingQuery filters judgings.
type JudgingQuery struct {
	Run        string               `query:"run" maxLength:"200" doc:"Id or name of a run: only of its trajectories."`
	Iteration  string               `query:"iteration" format:"uuid" doc:"Id of an iteration: only of its trajectories."`
	Trajectory string               `query:"trajectory" format:"uuid" doc:"Only of this trajectory (its id)."`
	Policy     string               `query:"policy" maxLength:"200" doc:"Id, name (the newest version) or name@version of a policy: only its judgings."`
	State      relabel.JudgingState `query:"state" enum:"queued,running,done,failed,cancelled" doc:"Only in this state."`
	Outcome    relabel.JudgeOutcome `query:"outcome" enum:"judged,invalid,missing" doc:"Only with this outcome."`
}

// JudgeProgresses sums judgings up.
type JudgeProgresses struct {
	Items []relabel.JudgeProgress `json:"items" nullable:"false" doc:"One per iteration, policy and prompt."`
}
