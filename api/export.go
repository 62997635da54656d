package api

import (
	"relabel"
)

// LabelSelection selects labels of a run. A filter that is absent is that of the run's recipe.
type LabelSelection struct {
	Iteration    int                 `json:"iteration,omitempty" minimum:"1" maximum:"1000000" help:"Iteration to export. Default: the latest that is done, with --unfinished the latest that is done or running." doc:"Number of the collect iteration. Default: the latest that is done, with unfinished the latest that is done or running."`
	Aggregated   bool                `json:"aggregated,omitempty" help:"Export iterations 1 to I together (D1 ∪ … ∪ Di, eq. 3) instead of only I." doc:"Also export every earlier iteration: D1 ∪ … ∪ Di (eq. 3). Default: only that iteration."`
	Unfinished   bool                `json:"unfinished,omitempty" doc:"Include running iterations: their trajectories that are done when the export starts. The others are excluded and counted as not_done."`
	Submitted    *bool               `json:"submitted,omitempty" negatable:"" help:"Only trajectories with a valid submission (paper F.2). Default except for grpo; --no-submitted includes the others." doc:"Only trajectories with a valid submission (paper F.2); false: also others. Default: true, for a grpo run false."`
	Resolved     *bool               `json:"resolved,omitempty" negatable:"" help:"Only resolved trajectories, which are submitted and pass the tests (rejection sampling). Default for sft, where tasks are to repair; --no-resolved includes the others." doc:"Only resolved trajectories, which are submitted and pass the tests (rejection sampling); false: also others. Default: true for an sft run unless submitted is false, else false."`
	Hit          *bool               `json:"hit,omitempty" negatable:"" help:"Of tasks to localise: only trajectories whose answer names at least one gold location (rejection sampling). Default for sft; --no-hit includes the others." doc:"Of tasks to localise: only trajectories whose answer names at least one gold location (rejection sampling); false: also others. Default: true for an sft run with such tasks unless submitted is false, else false."`
	MinScore     *float64            `json:"min_score,omitempty" placeholder:"X" minimum:"0" maximum:"1" help:"Of tasks to localise or in a terminal: only trajectories with this score or more. Default: any." doc:"Of tasks to localise or in a terminal: only trajectories with this score or more. Default: any."`
	MixedRewards *bool               `json:"mixed_rewards,omitempty" negatable:"" help:"Only groups (the trajectories of a task in an iteration) whose members have different rewards: resolved and unresolved ones, or different scores. Default for grpo; --no-mixed-rewards includes the others." doc:"Only groups (the trajectories of a task in an iteration) whose members have different rewards: resolved and unresolved ones, or different scores; the others are excluded and counted as equal_rewards. Default: false, for a grpo run true."`
	EndReasons   []relabel.EndReason `json:"end_reasons,omitempty" name:"end-reason" minItems:"1" maxItems:"9" uniqueItems:"true" enum:"finish,max_turns,context,wall_clock,no_call,disk,sandbox_broken,teacher_turns,prompt_too_long" help:"Only trajectories whose rollout ended for this reason; may be repeated. Default: any." doc:"Only trajectories with one of these ends. Default: any end."`
	Agreement    relabel.Agreement   `json:"agreement,omitempty" enum:"any,same,differs" default:"any" doc:"Only states whose executed action equals the label (same) or differs from it (differs). They are equal if the teacher executed the turn."`
	// VerdictProtections is a word or a number; the selection has the number.
	VerdictProtections string `json:"verdict_protections,omitempty" placeholder:"newest|N" maxLength:"10" pattern:"^(newest|[1-9][0-9]*)$" help:"Only trajectories with a verdict of at least this version of the verifier's protections; the others are excluded and counted. relabel run verify grades them again." doc:"Only trajectories with a verdict of this version of the verifier's protections or a newer one; newest: the current version. The others are excluded and counted as verdict_outdated; POST /v1/runs/{id}/verify grades them again. Absent: any verdict, or none."`
	// LabelPolicy is a word for a policy; the selection has its id.
	LabelPolicy     string   `json:"label_policy,omitempty" placeholder:"POLICY" maxLength:"200" doc:"Export labels from this policy instead of the run's teacher: its id, its name, or name@version; another teacher after a relabeling, or the student's own actions. States without its answer are excluded. Default: the run's teacher."`
	ExcludeFlags    []string `json:"exclude_flags,omitempty" name:"exclude-flag" placeholder:"FLAG" minItems:"1" maxItems:"100" uniqueItems:"true" doc:"Flags of reviews: trajectories and states of turns with one of them are excluded. *: any flag of reviews. mode:loop and the like: trajectories with this computed failure mode, or with a tool-use error (mode:tool_use_error). The flags and modes at the start of the export count."`
	AllowBenchmarks []string `json:"allow_benchmarks,omitempty" name:"allow-benchmark" placeholder:"NAME" minItems:"1" maxItems:"100" uniqueItems:"true" help:"Export tasks of this benchmark too; may be repeated. Default: tasks of named benchmarks and exclusion lists are excluded and counted." doc:"Names of benchmarks and exclusion lists whose tasks are exported. Default: tasks of named benchmarks and exclusion lists are excluded and counted as benchmark:NAME, in any task set."`
}

// NewExport says what is exported, and in which form. A filter that is absent is that of the run's recipe.
type NewExport struct {
	Run string `json:"run" arg:"" minLength:"1" maxLength:"200" doc:"The run: its id, or its name if no other has it."`
	LabelSelection
	Mix                *NewMix `json:"mix,omitempty" type:"jsonfile" placeholder:"FILE" help:"JSON file that says how labels are mixed: further sources, weights, labels per task; docs/training.md describes it." doc:"How labels are mixed: further sources beside the run, weights, a maximum of labels per task, and each state with its label once. Default: the labels of the run alone."`
	Destination        string  `json:"destination,omitempty" placeholder:"URL" maxLength:"2000" help:"Write the export to a bucket, such as s3://bucket/prefix?region=eu-west-1 or azblob://container/prefix, or to a data set of the Hugging Face Hub, hf://organisation/name. Default: the exports' folder." doc:"URL of the bucket that the export is written to, such as s3://bucket/prefix?region=eu-west-1 or azblob://container/prefix, or of a data set of the Hugging Face Hub, such as hf://organisation/name; keys come from the workers' environment. Empty: the exports' folder of this server."`
	relabel.ExportForm         // how rows are written
}

// Selection is what is selected from a run, with the defaults of its recipe. It leaves RunID and LabelPolicyID to the server. Errors are CodeInvalid and name the field.
func (n LabelSelection) Selection(run relabel.Run) (relabel.ExportSelection, error) {
	sel := relabel.ExportSelection{Iteration: n.Iteration, Aggregated: n.Aggregated, Unfinished: n.Unfinished,
		EndReasons: n.EndReasons, Agreement: n.Agreement, ExcludeFlags: n.ExcludeFlags, AllowBenchmarks: n.AllowBenchmarks}
	if sel.Agreement == "any" {
		sel.Agreement = relabel.AgreementAny
	}
	sel, err := sel.WithDefaults(relabel.ExportFilters{Submitted: n.Submitted, Resolved: n.Resolved, Hit: n.Hit, MinScore: n.MinScore, MixedRewards: n.MixedRewards}, run)
	if err != nil {
		return sel, err
	}
	if sel.VerdictProtections, err = relabel.ParseProtections(n.VerdictProtections); err == nil && sel.VerdictProtections > 0 && run.TaskKind == relabel.Localise {
		err = relabel.Errorf(relabel.CodeInvalid, "does not apply to tasks to localise: no tests grade their answers").On("verdict_protections")
	}
	return sel, err
}

// ExportDeleted says what became of an export.
type ExportDeleted struct {
	ID   relabel.ID `json:"id" doc:"Id of the deleted export."`
	Left string     `json:"left,omitempty" doc:"Files that could not be removed, and why; absent: none."`
}

// PushExport says where a finished export is pushed.
type PushExport struct {
	Destination  string   `json:"destination" arg:"" optional:"" name:"place" minLength:"1" maxLength:"2000" pattern:"^hf://" help:"Data set of the Hugging Face Hub: hf://organisation/name, with @branch and a folder if wanted." doc:"Data set of the Hugging Face Hub: hf://organisation/name, with @branch and a folder if wanted. The token is that of the server's workers."`
	AllowSecrets []string `json:"allow_secrets,omitempty" name:"allow-secret" placeholder:"RULE" minItems:"1" maxItems:"50" uniqueItems:"true" help:"Push although the text has secrets of this rule, such as private-key or jwt, or was not scanned (unscanned); may be repeated. Default: an export with secrets is not pushed." doc:"Rules of secrets, such as private-key or jwt, that the text may have; unscanned: an export of an earlier version, whose text was not scanned. Default: none: an export with secrets is refused."`
}
