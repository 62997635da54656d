package api

import "relabel"

// NewValidation is the result of running a task's tests with its gold patch and without a patch.
type NewValidation struct {
	TaskID        relabel.ID            `json:"task_id" format:"uuid" doc:"Id of the task, of this taskset."`
	Times         int                   `json:"times" minimum:"1" maximum:"10" doc:"Runs of each patch that were requested."`
	VerifySeconds int                   `json:"verify_seconds" minimum:"1" maximum:"604800" doc:"Time limit of the test command in each run, in seconds."`
	State         relabel.Soundness     `json:"state" enum:"sound,flaky,broken,infra" doc:"What the runs show: sound, flaky (sound without the flaky tests), broken, or infra (the tests could not run here)."`
	Reason        relabel.ProblemReason `json:"reason,omitempty" enum:"flaky_tests,no_gold_patch,no_fail_to_pass,patch_invalid,image_missing,gold_patch_fails,tests_timed_out,tests_do_not_run,resolved_without_patch,only_flaky_tests,flaky_reward,infrastructure" doc:"Why the task is not sound; absent: it is."`
	Problem       string                `json:"problem,omitempty" maxLength:"10000" doc:"The same in a sentence; absent: it is sound."`
	Flaky         []relabel.FlakyTest   `json:"flaky,omitempty" maxItems:"10000" doc:"Tests that passed in some of equal runs only."`
	Runs          []NewValidationRun    `json:"runs" maxItems:"20" doc:"The runs, those of the gold patch first."`
}

// NewValidationRun is a run with its log.
type NewValidationRun struct {
	relabel.ValidationRun
	LogGzip []byte `json:"log,omitempty" doc:"Its log in gzip, at most 1 MiB when unpacked, in base64; absent: none."`
}

// NewExclusion excludes tasks.
type NewExclusion struct {
	Tasks []relabel.ExcludedTask `json:"tasks" minItems:"1" maxItems:"1000" doc:"The tasks, each with the reason why no run draws it from now on."`
}

// NewInclusion ends the exclusion of tasks.
type NewInclusion struct {
	Instances []string `json:"instances" minItems:"1" maxItems:"1000" uniqueItems:"true" doc:"Instance ids of excluded tasks that runs draw again."`
}

// DropFlaky selects tasks whose flaky tests are dropped.
type DropFlaky struct {
	Instances []string `json:"instances,omitempty" maxItems:"1000" uniqueItems:"true" doc:"Instance ids of flaky tasks. Default: the first 1000 flaky tasks by instance id."`
}

// SoundnessQuery narrows a list of a taskset's tasks with their validations.
type SoundnessQuery struct {
	RevisionQuery
	State    relabel.Soundness `query:"state" enum:"sound,flaky,broken,infra,unvalidated" default:"" doc:"Only tasks of this state."`
	Excluded bool              `query:"excluded" doc:"Only excluded tasks."`
}

// LogQuery names a run of a validation.
type LogQuery struct {
	Patch  relabel.ValidatedPatch `query:"patch" enum:"gold,empty" default:"gold" doc:"gold or empty."`
	Number int                    `query:"number" minimum:"1" maximum:"10" default:"1" doc:"Number of the run, from 1."`
}

// ValidationLog is the log of a run of a validation.
type ValidationLog struct {
	Log string `json:"log" doc:"What the test command printed, at most 1 MiB; bytes that are not UTF-8 are replaced."`
}
