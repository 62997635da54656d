package api

import "relabel"

// NewIteration describes the next round.
type NewIteration struct {
	Student     string                `json:"student" placeholder:"POLICY" minLength:"1" maxLength:"200" doc:"The student policy of this round: its id, its name, or name@version. Any policy can evaluate or sample."`
	Kind        relabel.IterationKind `json:"kind,omitempty" default:"" enum:"collect,evaluate,sample" doc:"collect: mixture rollouts with labels. evaluate: only the student, greedy, without labels. sample: only the student, at its own sampling, without labels. Default: collect; sample in an opd or grpo run, which cannot collect."`
	Beta        *float64              `json:"beta,omitempty" minimum:"0" maximum:"1" doc:"βi instead of the schedule's: the probability that the teacher executes a turn."`
	Rho         *relabel.RhoSchedule  `json:"rho,omitempty" type:"json" placeholder:"JSON" doc:"ρi instead of the run's schedule, for aggrevate, such as {\"kind\":\"ranges\",\"ranges\":[[10,40]]}."`
	Tasks       int                   `json:"tasks,omitempty" name:"count" placeholder:"N" minimum:"1" maximum:"100000" doc:"Number of tasks to draw. Default: the run's tasks_per_round, or in an evaluation, in a sample on held-out tasks, and without one all."`
	Instances   []string              `json:"instances,omitempty" name:"instance" minItems:"1" maxItems:"100000" doc:"Exactly these instances. Held-out ones only when evaluating."`
	HeldOut     bool                  `json:"held_out,omitempty" help:"Evaluate or sample on the held-out tasks; no export has such samples. An evaluation needs --benchmark, --held-out, --instance or --again." doc:"Evaluate or sample on the held-out tasks; no export has such samples. An evaluation needs this, a benchmark, instances or again."`
	Again       *relabel.ID           `json:"again,omitempty" placeholder:"ITERATION" format:"uuid" doc:"Id of an iteration, of this or another run of the same task set: roll out exactly its tasks again. An evaluation or a sample that repeats one with a benchmark has this benchmark, with its limits, of any task set."`
	Generations int                   `json:"generations,omitempty" placeholder:"N" help:"Rollouts per task. Default: as in the iteration of --again, else the run's; in an evaluation, or a sample on a benchmark or held-out tasks, 1." minimum:"1" maximum:"1000" doc:"Rollouts per task. Default: as in again, else the run's; in an evaluation, or a sample on a benchmark or held-out tasks, 1."`
	LabelRule   relabel.LabelRule     `json:"label_rule,omitempty" placeholder:"RULE" maxLength:"40" doc:"At which states of the student the teacher is asked for a label: all, every:K, uncertain:X, after_failure or first_after_parting:N, the last four optionally with a floor such as every:4+0.1, or in an aggrevate run teacher_turns:K, which ends a rollout after K turns of the teacher. Only for collect iterations. Default: as in the run."`
	Verify      relabel.VerifyPolicy  `json:"verify,omitempty" placeholder:"POLICY" maxLength:"20" doc:"Which trajectories are verified: all, none, or sample:N (N of them, drawn with the seed). An evaluation verifies all. Default: as in the run."`

	Benchmark       string   `json:"benchmark,omitempty" maxLength:"200" placeholder:"NAME" doc:"Evaluate or sample exactly the tasks of this benchmark, with its limits: its id or its name. It may be of another task set than the run's. No export has such samples."`
	AllowBenchmarks []string `json:"allow_benchmarks,omitempty" name:"allow-benchmark" placeholder:"NAME" minItems:"1" maxItems:"100" uniqueItems:"true" help:"Collect on tasks of this benchmark or exclusion list too; may be repeated. Default: tasks of named benchmarks and exclusion lists are not drawn." doc:"Names of benchmarks and exclusion lists whose tasks may be collected on, besides those that the run allows. Default: tasks of named benchmarks and exclusion lists are not drawn."`

	AllowWeights []relabel.WeightDoubt `json:"allow_weights,omitempty" placeholder:"DOUBT" minItems:"1" maxItems:"4" enum:"different,same,changed,unchecked" help:"Start although the student's weights are in doubt: different (its addresses differ), same (an earlier round's student has the same weights), changed (this version had other weights before) or unchecked (an address gave no fingerprint); may be repeated." doc:"Doubts about the student's weights with which the iteration starts nevertheless: different (its addresses have different weights), same (an earlier round's student, under another version, has the same weights), changed (this version had other weights before), unchecked (an address gave no fingerprint)."`
}

// IterationView is an iteration with its progress.
type IterationView struct {
	relabel.Iteration
	Student   string            `json:"student" doc:"Name and version of its student."`
	Benchmark string            `json:"benchmark,omitempty" doc:"Name of its benchmark; absent: it has none, or one without a name."`
	Progress  relabel.Progress  `json:"progress" doc:"Its progress."`
	PassAtK   []relabel.PassAtK `json:"pass_at_k,omitempty" doc:"pass@k of an evaluation or sample with several generations; absent otherwise."`
	RunPaused *relabel.Pause    `json:"run_paused,omitempty" doc:"Pause of its run; absent: the run is not paused."`
	// ReservedSince is counted only when one iteration is read.
	ReservedSince int `json:"reserved_since,omitempty" doc:"In the answer to GET of one iteration: tasks of an iteration for training that named benchmarks and exclusion lists reserve now, which were created after it; exports exclude their states. Absent: none."`
	// ReservedBy is known only when the iteration is started.
	ReservedBy []string `json:"reserved_by,omitempty" doc:"In the answer to its start: the benchmarks and exclusion lists that reserve its reserved_tasks."`
	// WaitsForWorker is known only when one iteration is read.
	WaitsForWorker string `json:"waiting_for_worker,omitempty" doc:"In the answer to GET of one iteration: which worker its queued trajectories wait for; absent: one rolls out tasks of their kind."`
	// Weights is the newest check of its student's weights.
	Weights *relabel.WeightCheck `json:"weights,omitempty" doc:"The newest check of its student's weights; absent: none, as in iterations of earlier versions."`
	Outages []relabel.Outage     `json:"waiting_for_endpoint" doc:"Policies that are down. Its queued trajectories that need them are not claimed meanwhile."`
}

// NewResume ends a pause.
type NewResume struct {
	AllowWeights []relabel.WeightDoubt `json:"allow_weights,omitempty" placeholder:"DOUBT" minItems:"1" maxItems:"4" enum:"different,same,changed,unchecked" help:"Resume although the student's weights are in doubt: different, same, changed or unchecked, as in run iterate; may be repeated." doc:"Doubts about the weights of the students of the running iterations with which they are resumed nevertheless, as when an iteration is started."`
}

// Retry selects the failed trajectories to retry.
type Retry struct {
	Reasons []relabel.FailureReason `json:"reasons,omitempty" name:"reason" minItems:"1" maxItems:"20" enum:"environment,image_missing,endpoint,verifier,secret,internal" doc:"Only trajectories that failed for one of these. Default: all that failed."`
}

// RetryView counts the trajectories that are retried.
type RetryView struct {
	Retried   int           `json:"retried" doc:"Trajectories that are queued again."`
	Iteration IterationView `json:"iteration" doc:"The iteration after that."`
}
