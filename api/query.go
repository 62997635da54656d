package api

import (
	"reflect"
	"strconv"
	"time"

	"relabel"
)

// PageQuery asks for a page of a list.
type PageQuery struct {
	After string `query:"after" maxLength:"512" minLength:"1" doc:"The value of next from the previous page; omit it for the first page."`
	Limit int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"Maximum number of items in the page, 1 to 500. A page of large items has fewer: next shows whether more follow."`
}

// RevisionQuery asks for a revision of a taskset.
type RevisionQuery struct {
	Revision int `query:"revision" minimum:"0" maximum:"1000000" doc:"A revision of the taskset; 0 or absent: the newest."`
}

// TrajectoryQuery filters and sorts trajectories. Absent parameters do not filter.
type TrajectoryQuery struct {
	Run          string                  `query:"run" maxLength:"200" doc:"Id or name of a run: only its trajectories."`
	Iteration    string                  `query:"iteration" doc:"Id of an iteration, or a number i: only its trajectories; of a number, those of all iterations that have it."`
	Taskset      string                  `query:"taskset" maxLength:"200" doc:"Id or name of a task set: only trajectories of runs over it."`
	Task         string                  `query:"task" format:"uuid" placeholder:"ID" doc:"Id of a task: only its trajectories."`
	Instance     string                  `query:"instance" maxLength:"1000" doc:"Only trajectories of tasks with this instance id."`
	InstancePart string                  `query:"instance_part" placeholder:"TEXT" maxLength:"1000" doc:"Only trajectories of tasks whose instance id contains this, in any case."`
	Text         string                  `query:"q" name:"find" placeholder:"TEXT" maxLength:"1000" doc:"Only with this text, in any case, in the instance id, in the detail of a failure, in an error of the verifier, or in a review's flag, note or author. Texts of turns are not searched."`
	State        relabel.TrajectoryState `query:"state" enum:"queued,running,labelling,verifying,done,failed,cancelled" default:"" doc:"Only in this state."`
	EndReason    relabel.EndReason       `query:"end_reason" enum:"finish,max_turns,context,wall_clock,no_call,disk,sandbox_broken,teacher_turns,prompt_too_long" default:"" doc:"Only rollouts that ended for this reason."`
	Failure      relabel.FailureReason   `query:"failure" enum:"environment,image_missing,endpoint,verifier,secret,internal" default:"" doc:"Only failed for this reason."`
	Verdict      relabel.VerdictKind     `query:"verdict" enum:"passed,failed,scored,error,unverified,cut,none" default:"" doc:"Only with this verdict; scored: an answer to localise or its absence, error: an infrastructure error, unverified: done but not verified, cut: the label rule ended the rollout or its prompt was too long, none: not yet, or cancelled."`
	Reason       relabel.VerdictReason   `query:"verdict_reason" enum:"passed,tests,tests_timed_out,tests_did_not_finish,tests_tampered,empty_patch,patch_does_not_apply,patch_unsafe,scored,no_answer" default:"" doc:"Only with a verdict for this reason."`
	FailureMode  relabel.FailureMode     `query:"failure_mode" enum:"loop,overflow,budget,no_edit,other,syntax_or_runtime,wrong_file,wrong_solution" default:"" doc:"Only unresolved ones with this primary failure mode."`
	JudgedMode   relabel.FailureMode     `query:"judged_mode" enum:"loop,overflow,budget,no_edit,other,syntax_or_runtime,wrong_file,wrong_solution" default:"" doc:"Only those to which a judge gave this failure mode."`
	ToolUseError relabel.ToolUseChoice   `query:"tool_use_error" enum:"true,false,unresolved" default:"" doc:"true: only with a call that was malformed, named an unknown tool or was refused by the tool; false: only computed ones without; unresolved: as true, and only the unresolved ones that reports of failure modes count."`
	Submitted    string                  `query:"submitted" enum:"true,false" default:"" doc:"Only with, or without, a valid submission."`
	Resolved     string                  `query:"resolved" enum:"true,false" default:"" doc:"true: only resolved, that is submitted and passed; false: only with a verdict and not resolved."`
	Hit          string                  `query:"hit" enum:"true,false" default:"" doc:"true: only scored ones whose answer names at least one gold location; false: only scored ones whose answer names none, or without an answer."`
	Labels       string                  `query:"labels" enum:"missing" default:"" doc:"missing: only trajectories with a missing label."`
	TurnsMin     Number                  `query:"turns_min" minimum:"0" maximum:"2147483647" doc:"Only with this many turns or more."`
	TurnsMax     Number                  `query:"turns_max" minimum:"0" maximum:"2147483647" doc:"Only with this many turns or fewer."`
	AgreementMin Number                  `query:"agreement_min" minimum:"0" maximum:"1" doc:"Only with this agreement or more."`
	AgreementMax Number                  `query:"agreement_max" minimum:"0" maximum:"1" doc:"Only with this agreement or less."`
	ScoreMin     Number                  `query:"score_min" minimum:"0" maximum:"1" doc:"Only with this score or more."`
	ScoreMax     Number                  `query:"score_max" minimum:"0" maximum:"1" doc:"Only with this score or less."`
	Flag         string                  `query:"flag" maxLength:"60" doc:"Only with a review that has this flag; *: any flag."`
	Reviewed     string                  `query:"reviewed" enum:"true,false" default:"" doc:"Only with, or without, a review."`
	Sort         relabel.TrajectorySort  `query:"sort" enum:"newest,oldest,most_turns,fewest_turns,most_tokens,fewest_tokens,highest_agreement,lowest_agreement,earliest_difference,latest_difference,highest_score,lowest_score" default:"newest" doc:"An order by a figure lists finished trajectories that have the figure first, then the others, newest first."`
}

// TrajectoryPageQuery asks for a page of trajectories.
type TrajectoryPageQuery struct {
	TrajectoryQuery
	PageQuery
	Before string `query:"before" maxLength:"512" doc:"The value of previous from the next page; instead of after."`
}

// TextQuery searches for a text in the trajectories that match.
type TextQuery struct {
	TrajectoryQuery
	PageQuery
	Words string `query:"text" required:"true" minLength:"1" maxLength:"500" doc:"The text to search for, literally, in any case."`
}

// ExportQuery filters exports.
type ExportQuery struct {
	Run string `query:"run" maxLength:"200" doc:"Id or name of a run: only its exports."`
}

// ReviewQuery filters reviews.
type ReviewQuery struct {
	Run  string `query:"run" maxLength:"200" doc:"Id or name of a run: only reviews of its trajectories."`
	Flag string `query:"flag" maxLength:"60" doc:"Only with this flag; *: with any."`
}

// RelabelingQuery filters relabelings.
type RelabelingQuery struct {
	Run        string               `query:"run" maxLength:"200" doc:"Id or name of a run: only of its trajectories."`
	Iteration  string               `query:"iteration" format:"uuid" doc:"Id of an iteration: only of its trajectories."`
	Trajectory string               `query:"trajectory" format:"uuid" doc:"Only of this trajectory (its id)."`
	Policy     string               `query:"policy" maxLength:"200" doc:"Id, name (the newest version) or name@version of a policy: only its relabelings."`
	State      relabel.RelabelState `query:"state" enum:"queued,running,done,failed,cancelled" doc:"Only in this state."`
}

// RegradeQuery selects the trajectories of a run whose verdicts are counted.
type RegradeQuery struct {
	Iteration  string `query:"iteration" doc:"Id of an iteration, or a number i: only its trajectories; of a number, those of all iterations of the run that have it."`
	Trajectory string `query:"trajectory" format:"uuid" doc:"Id of a trajectory: only its verdicts."`
}

// AuditQuery filters the audit log.
type AuditQuery struct {
	Token    string    `query:"token_name" name:"token-name" placeholder:"NAME" maxLength:"200" doc:"Name or id of a token: only its requests."`
	Resource string    `query:"resource" placeholder:"ID|NAME" maxLength:"200" doc:"Id of a resource, or the name of a run, a task set, a policy, a tokenizer (all versions) or a token: only requests that changed it."`
	Since    time.Time `query:"since" kong:"-" doc:"Only from this time on (RFC 3339)."`
}

// TurnQuery asks for a page of turns.
type TurnQuery struct {
	From  int  `query:"from" minimum:"1" maximum:"1000000" default:"1" doc:"First turn of the page, from 1."`
	Limit int  `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"Maximum number of turns in the page, 1 to 500. A page of large turns has fewer."`
	Raw   bool `query:"raw" doc:"Also return the messages as their servers wrote them."`
}

// ATIFQuery chooses what a document in ATIF has.
type ATIFQuery struct {
	PromptTokenIDs bool `query:"prompt_token_ids" doc:"Include the ids of each prompt's tokens, where the server gave them: together they are as long as all states."`
}

// ImportQuery says what imported trajectories become.
type ImportQuery struct {
	Name    string `query:"name" required:"true" minLength:"1" maxLength:"200" doc:"Name of the new run and of its taskset."`
	Student string `query:"student" required:"true" maxLength:"200" doc:"Id, name (the newest version) or name@version of the policy that stands for the model that acted."`
	Teacher string `query:"teacher" required:"true" maxLength:"200" doc:"Id, name (the newest version) or name@version of the run's teacher, whose labels are missing until the iteration is relabelled."`
}

// Number is a number in a query that may be absent.
type Number struct {
	Value float64
	Given bool
}

// UnmarshalText reads a number.
func (n *Number) UnmarshalText(text []byte) (err error) {
	n.Value, err = strconv.ParseFloat(string(text), 64)
	n.Given = err == nil
	if err != nil {
		err = relabel.Errorf(relabel.CodeInvalid, "%q is not a number", text)
	}
	return err
}

// String returns the number in decimal digits.
func (n Number) String() string { return strconv.FormatFloat(n.Value, 'f', -1, 64) }

// Receiver is the place where the server stores the number.
func (n *Number) Receiver() reflect.Value { return reflect.ValueOf(&n.Value).Elem() }

// OnParamSet notes whether the query has the number.
func (n *Number) OnParamSet(isSet bool, _ any) { n.Given = isSet }

// ComparisonQuery names the evaluation to compare with.
type ComparisonQuery struct {
	With relabel.ID `query:"with" required:"true" format:"uuid" doc:"Id of another evaluation on the same benchmark, of any run."`
}

// LocalisationQuery names the iteration to compare with.
type LocalisationQuery struct {
	With string `query:"with" placeholder:"ITERATION" format:"uuid" doc:"Id of a done iteration, of any run, that each done iteration is compared with. Default: the one before it of the same kind and on the same benchmark."`
}

// LabelRuleQuery selects the label rules that are compared.
type LabelRuleQuery struct {
	Rules []string `query:"rule,explode" placeholder:"RULE" sep:"none" maxItems:"20" doc:"A label rule: all, every:K, uncertain:X, after_failure, first_after_parting:N (the last four optionally with a floor, such as every:4+0.1) or teacher_turns:K. Several can be given. Default: all, every:2, every:4, after_failure and first_after_parting:3."`
}
