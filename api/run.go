package api

import "relabel"

// NewRun describes an experiment.
type NewRun struct {
	Name            string                `json:"name" arg:"" minLength:"1" maxLength:"200" doc:"Name of the run; it must be unique."`
	Preset          string                `json:"preset,omitempty" default:"" enum:"sft-paper,dagger-paper,aggrevate-paper,opd-paper,grpo-paper,tooltrain-sft-paper,tooltrain-paper" help:"Take recipe, schedule, tasks per round, generations, rounds, draw, limits and the trainer's configuration from an experiment of the paper (table 5, F.1), or of tasks to localise from one of the two stages of ToolTrain (3.3, 4.4). Other flags override." doc:"Experiment of the paper (table 5, F.1), or of tasks to localise one of the two stages of ToolTrain (3.3, 4.4), that gives recipe, schedule, tasks per round, generations, rounds, draw, limits and the trainer's configuration. Other fields override it."`
	Recipe          relabel.Recipe        `json:"recipe,omitempty" default:"" enum:"sft,dagger,aggrevate,opd,grpo" doc:"Where states come from (paper table 2): teacher states, the turn mixture of eq. 8, student prefixes of eq. 9, or (opd, grpo) the student alone, without labels. Default: the preset's, else dagger."`
	Scaffold        string                `json:"scaffold,omitempty" maxLength:"100" doc:"The tools and prompts that agents work with. To repair: openhands (default), or bare, which has the same tools without a system prompt, schemas and decorated observations. To localise: reposearcher."`
	Prompts         *NewPrompts           `json:"prompts,omitempty" type:"jsonfile" placeholder:"FILE" help:"JSON file {system, first, tools} with texts that replace those of the scaffold." doc:"Texts that replace those of the scaffold."`
	Taskset         string                `json:"taskset" minLength:"1" maxLength:"200" doc:"The task set: its id or its name."`
	TasksetRevision int                   `json:"taskset_revision,omitempty" placeholder:"N" minimum:"1" maximum:"1000000" doc:"Revision of the task set whose tasks the run draws; it never changes. Default: the newest."`
	Instances       []string              `json:"instances,omitempty" name:"instance" minItems:"1" maxItems:"100000" help:"Roll out only this instance; may be repeated. Default: every task that is not held out." doc:"Instance ids to roll out. Default: every task that is not held out."`
	Teacher         string                `json:"teacher,omitempty" placeholder:"POLICY" minLength:"1" maxLength:"200" doc:"The teacher policy: its id, its name, or name@version. Only a grpo run can do without one."`
	Beta            *relabel.BetaSchedule `json:"beta,omitempty" type:"json" placeholder:"JSON" help:"Schedule of βi, for dagger. Default: {\"kind\":\"linear\",\"start\":1,\"step\":0.2,\"floor\":0.6} (paper F.1)." doc:"Schedule of βi, for dagger. Default: linear, 1.0, −0.2 per iteration, at least 0.6 (paper F.1)."`
	Rho             *relabel.RhoSchedule  `json:"rho,omitempty" type:"json" placeholder:"JSON" help:"Schedule of ρi, the distribution of the student-prefix length κ, for aggrevate. Default: {\"kind\":\"shifting\",\"max\":40} (paper F.1)." doc:"Schedule of ρi, the distribution of the student-prefix length κ, for aggrevate. Default: shifting, at most 40 turns (paper F.1)."`
	Labels          relabel.LabelMode     `json:"labels,omitempty" enum:"inline,deferred,batch" default:"inline" doc:"When the teacher labels the student's turns: inline (during the rollout), deferred (after the iteration's last rollout), or batch (then, through the teacher's OpenAI-style batch endpoint)."`
	Limits          *NewRunLimits         `json:"limits,omitempty" type:"json" placeholder:"JSON" help:"Limits that differ from the paper's, such as {\"max_turns\":40}. Keys: max_turns (100), max_context_tokens (65536), wall_clock_seconds (3600), command_seconds (120), verify_seconds (1800), environment_retries (3), max_prompt_tokens (0), max_response_tokens (0); to localise also score_depth (5) and observation_bytes (30000)." doc:"Limits of each trajectory."`
	Budget          *relabel.Budget       `json:"budget,omitempty" kong:"-" doc:"Usage of model calls at which the run is paused. It can be changed later."`
	Webhook         *relabel.Webhook      `json:"webhook,omitempty" kong:"-" doc:"Webhook to call when an iteration or an export ends, or relabel pauses the run. It can be changed later."`
	LabelRule       relabel.LabelRule     `json:"label_rule,omitempty" placeholder:"RULE" maxLength:"40" doc:"At which states of the student the teacher is asked for a label: all, every:K, uncertain:X, after_failure or first_after_parting:N, the last four optionally with a floor such as every:4+0.1, or in an aggrevate run teacher_turns:K, which ends a rollout after K turns of the teacher. Default: all."`
	Verify          relabel.VerifyPolicy  `json:"verify,omitempty" placeholder:"POLICY" maxLength:"20" doc:"Which trajectories are verified: all, none, or sample:N (N of each iteration, drawn with the seed). An evaluation verifies all. Default: all."`
	Seed            int64                 `json:"seed,omitempty" doc:"Seed of every draw: the same seed gives the same draws on any machine."`
	// How iterations draw tasks, and their defaults.
	Draw          relabel.DrawMode `json:"draw,omitempty" default:"" enum:"anew,permutation" doc:"How iterations draw their tasks: anew from all tasks, or along a seeded permutation (without replacement until all were drawn, then along a new one). Default: permutation with a preset, else anew."`
	TasksPerRound int              `json:"tasks_per_round,omitempty" placeholder:"N" minimum:"1" maximum:"100000" doc:"Tasks that an iteration draws if its request has no number. Default: the preset's, else all."`
	Generations   int              `json:"generations,omitempty" placeholder:"N" minimum:"1" maximum:"1000" doc:"Rollouts per task if the request of an iteration has no number. Default: the preset's, else 1."`
	Rounds        int              `json:"rounds,omitempty" placeholder:"N" minimum:"1" maximum:"10000" doc:"Planned iterations; more can be started. Default: the preset's, else not given."`

	// Hints of runs with tasks to repair.
	HintsFrom       string `json:"hints_from,omitempty" placeholder:"RUN" minLength:"1" maxLength:"200" help:"Give the agents the functions that this run to localise found for the same instances, as hints in the first message." doc:"A run to localise, its id or its name: the functions that it located for the same instances, or if unambiguous at the same repository and commit, are hints in the first message. They are copied now. Only for tasks to repair."`
	HintsEvaluation int    `json:"hints_evaluation,omitempty" placeholder:"N" minimum:"1" maximum:"1000000" doc:"Number of the done evaluation of that run whose answers they are. Default: the newest."`
	HintsTop        int    `json:"hints_top,omitempty" placeholder:"K" minimum:"1" maximum:"1000" doc:"How many entries of each ranked answer are given at most. Default 5."`

	AllowBenchmarks []string `json:"allow_benchmarks,omitempty" name:"allow-benchmark" placeholder:"NAME" minItems:"1" maxItems:"100" uniqueItems:"true" help:"Collect on tasks of this benchmark or exclusion list too; may be repeated. Default: tasks of named benchmarks and exclusion lists are not drawn." doc:"Names of benchmarks and exclusion lists whose tasks its iterations may collect on. Default: tasks of named benchmarks and exclusion lists are not drawn, in any task set."`
}

// NewPrompts are a run's own texts; absent ones are the scaffold's.
type NewPrompts struct {
	System string         `json:"system,omitempty" doc:"System message."`
	First  string         `json:"first,omitempty" doc:"First user message. {workdir}, {problem_statement} and {hints_text} are replaced by the task's; {hints?}…{/hints?} is omitted without hints."`
	Tools  []relabel.Tool `json:"tools,omitempty" maxItems:"100" doc:"Descriptions of the scaffold's tools."`
}

// NewRunLimits bounds each trajectory; absent fields take the paper's values.
type NewRunLimits struct {
	MaxTurns           *int `json:"max_turns,omitempty" minimum:"1" maximum:"1000" doc:"Maximum turns of a trajectory (Tmax). Default 100."`
	MaxContextTokens   *int `json:"max_context_tokens,omitempty" minimum:"256" maximum:"10000000" doc:"Maximum tokens of prompt and answer together. Default 65536."`
	WallClockSeconds   *int `json:"wall_clock_seconds,omitempty" minimum:"1" maximum:"604800" doc:"Seconds that a rollout may take, without its verification. Default 3600."`
	CommandSeconds     *int `json:"command_seconds,omitempty" minimum:"1" maximum:"86400" doc:"Seconds without output after which a command is killed. Default 120."`
	VerifySeconds      *int `json:"verify_seconds,omitempty" minimum:"1" maximum:"86400" doc:"Seconds that the test command may take. Default 1800."`
	EnvironmentRetries *int `json:"environment_retries,omitempty" minimum:"0" maximum:"100" doc:"Retries after attempts that ended with a broken sandbox or verifier. Default 3."`
	ScoreDepth         *int `json:"score_depth,omitempty" minimum:"0" maximum:"1000" doc:"To localise: k of the score nDCG@k of a ranked answer. Default 5."`
	ObservationBytes   *int `json:"observation_bytes,omitempty" minimum:"0" maximum:"10000000" doc:"To localise: maximum bytes of one tool's answer, at least 1000; longer ones are cut in the middle or folded, and say so. Default 30000."`
	MaxPromptTokens    *int `json:"max_prompt_tokens,omitempty" minimum:"0" maximum:"10000000" doc:"Maximum tokens of the first prompt; a task with a longer one is skipped and counted. Default 0: only the context bounds it."`
	MaxResponseTokens  *int `json:"max_response_tokens,omitempty" minimum:"0" maximum:"10000000" doc:"Maximum tokens of everything after the first prompt, answers and observations together. Default 0: only the context bounds them."`
}

// RunView is a run with what it has used.
type RunView struct {
	relabel.Run
	Spent relabel.Spent `json:"spent" doc:"Usage of its calls so far."`
	// Tasks is the run's task set at its revision.
	Tasks    relabel.Taskset        `json:"taskset" doc:"Its task set at its revision, with the number of its tasks and of those that are excluded."`
	Excluded []relabel.ExcludedTask `json:"excluded,omitempty" doc:"The excluded tasks of that revision, by instance id with the reasons, at most 100; absent: none."`
	Outages  []relabel.Outage       `json:"waiting_for_endpoint" doc:"Policies that are down. Its queued trajectories that need them are not claimed meanwhile."`
	// PresetRows compares the run with the paper.
	PresetRows []relabel.PresetRow `json:"preset_rows,omitempty" doc:"Its settings beside those of the paper's experiment; absent without a preset."`
}

// SchedulingPatch changes a run's scheduling; absent fields do not change.
type SchedulingPatch struct {
	Priority *int             `json:"priority,omitempty" minimum:"-1000" maximum:"1000" doc:"Runs with the highest priority are claimed first; runs of equal priority share the slots evenly. Default 0."`
	Quota    *int             `json:"quota,omitempty" minimum:"0" maximum:"1000000" doc:"Maximum number of its trajectories that workers hold at a time; 0: limited only by the slots."`
	Budget   *relabel.Budget  `json:"budget,omitempty" kong:"-" doc:"Replaces the current one. A run that its budget has paused continues after a resume."`
	Webhook  *relabel.Webhook `json:"webhook,omitempty" kong:"-" doc:"Replaces the current one; with an empty url the default webhook applies, if there is one."`
}

// NewPause says why something is paused.
type NewPause struct {
	Text string `json:"text,omitempty" maxLength:"1000" doc:"Explanation."`
}

// RunTime says where a run's time went.
type RunTime struct {
	relabel.TimeReport
	Iterations []relabel.IterationTime `json:"iterations" nullable:"false" doc:"The same for each iteration, in the order of creation."`
}

// Over returns d with what was given in its place.
func (l *NewRunLimits) Over(d relabel.RunLimits) relabel.RunLimits {
	if l == nil {
		return d
	}
	set(&d.MaxTurns, l.MaxTurns)
	set(&d.MaxContextTokens, l.MaxContextTokens)
	set(&d.WallClockSeconds, l.WallClockSeconds)
	set(&d.CommandSeconds, l.CommandSeconds)
	set(&d.VerifySeconds, l.VerifySeconds)
	set(&d.EnvironmentRetries, l.EnvironmentRetries)
	set(&d.ScoreDepth, l.ScoreDepth)
	set(&d.ObservationBytes, l.ObservationBytes)
	set(&d.MaxPromptTokens, l.MaxPromptTokens)
	set(&d.MaxResponseTokens, l.MaxResponseTokens)
	return d
}
