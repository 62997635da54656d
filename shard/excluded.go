package shard

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"relabel"
	"relabel/chat"
)

// Reason explains why a labelled state is excluded from a data set.
type Reason string

// Reasons for exclusion; package shard/render defines further ones. Those before LabelMissing
// exclude whole trajectories.
const (
	TrajectoryFailed    Reason = "trajectory_failed"    // not the agent's fault; the detail gives the failure
	TrajectoryCancelled Reason = "trajectory_cancelled" // with its iteration
	NotDone             Reason = "not_done"             // still in progress
	Evaluation          Reason = "evaluation"           // the student alone, without labels
	Sampled             Reason = "sample"               // the student alone, without labels
	HeldOut             Reason = "held_out"             // held-out tasks are never exported
	InBenchmark         Reason = "benchmark"            // a named benchmark or an exclusion list reserves the task; the detail is its name
	NotSubmitted        Reason = "not_submitted"        // by request: valid submissions only
	CutByRule           Reason = "cut_by_rule"          // by request: valid submissions or verdicts only; its label rule ended the rollout before them
	NotResolved         Reason = "not_resolved"         // by request: resolved trajectories only
	NoHit               Reason = "no_hit"               // by request: answers that name a gold location only
	ScoreTooLow         Reason = "score_too_low"        // by request: a higher score only; the detail is its score
	NotVerified         Reason = "not_verified"         // by request: with a verdict only; its iteration verified only others
	VerdictOutdated     Reason = "verdict_outdated"     // by request: the verdict is missing or its protections are too old
	LabelMissing        Reason = "label_missing"        // the teacher gave no action
	LabelNotSelected    Reason = "label_not_selected"   // the label rule of its iteration did not ask the teacher there
	LabelNotText        Reason = "label_not_text"
	LabelCut            Reason = "label_cut_by_length" // it has no end to learn from
	LabelRefused        Reason = "label_refused"
	LabelNoCall         Reason = "label_no_call"
	LabelMalformed      Reason = "label_malformed_arguments"
	LabelUnknown        Reason = "label_unknown_tool"
	LabelUnparsed       Reason = "label_unparsed" // it is not recorded how its calls were parsed
	StateTooLarge       Reason = "state_too_large"
	EndedOtherwise      Reason = "ended_otherwise"      // by request: other end reasons only
	LabelExecuted       Reason = "label_executed"       // by request: only labels that were not executed
	LabelNotExecuted    Reason = "label_not_executed"   // by request: only labels that were executed
	TooLong             Reason = "too_long"             // longer than max_length
	HasSecret           Reason = "secret"               // by request: its state or its label has a secret; the detail is the rule that found it
	Flagged             Reason = "flagged"              // by request: reviews gave it an excluded flag
	HasFailureMode      Reason = "failure_mode"         // by request: its computed failure mode is excluded; the detail is the mode
	NoFailureMode       Reason = "failure_mode_missing" // by request: modes are excluded, and its mode is not computed
	EqualRewards        Reason = "equal_rewards"        // by request: groups with mixed rewards only
	OverMaxLabels       Reason = "over_max_labels"      // by request: the export has max_labels labels without it
	Duplicate           Reason = "duplicate"            // by request: an earlier label of the mix has the same state and label
	OverLabelsPerTask   Reason = "over_labels_per_task" // by request: its task has labels_per_task labels without it
	NotSampled          Reason = "not_sampled"          // by request: labels are sampled by their weights
	NoReward            Reason = "no_reward"            // by request: groups with mixed rewards only; this one was submitted and has no verdict
	GroupTooSmall       Reason = "group_too_small"      // by request: groups with mixed rewards only; this one has fewer than two members
	IDsNotServed        Reason = "ids_not_served"       // the label is the student's own, and its server returned no ids
	ScoreMissing        Reason = "score_missing"        // opd: teacher or student did not score the action
	ScoreInvalid        Reason = "score_invalid"        // opd: the scores do not fit the action's tokens
	ScoreImpossible     Reason = "score_impossible"     // opd: teacher or student gives a token no probability: its log ratio would be infinite
)

// ofParse maps a failed parse of a label to its reason.
var ofParse = map[relabel.ParseOutcome]Reason{
	relabel.NoCall: LabelNoCall, relabel.MalformedCall: LabelMalformed, relabel.UnknownTool: LabelUnknown,
	relabel.CutByLength: LabelCut, relabel.Refused: LabelRefused,
}

// excludeTrajectory returns why no state of a trajectory is exported, with a detail, or "".
func excludeTrajectory(r relabel.Recipe, sel relabel.ExportSelection, tr relabel.ExportTrajectory) (reason Reason, detail string) {
	is := func(b *bool) bool { return b != nil && *b }
	switch t := tr.Trajectory; {
	case tr.Task.HeldOut:
		return HeldOut, ""
	case tr.Benchmark != "":
		return InBenchmark, tr.Benchmark
	case t.Kind == relabel.Evaluate || tr.Iteration.Kind == relabel.Evaluate:
		return Evaluation, ""
	case tr.Iteration.BenchmarkID != nil:
		return InBenchmark, "of a sample on held-out tasks or a benchmark"
	case !r.OnPolicy() && !(t.Kind.Labelled() && tr.Iteration.Kind.Labelled()):
		return Sampled, ""
	case t.State == relabel.Failed:
		return TrajectoryFailed, string(t.Failure)
	case t.State == relabel.Cancelled:
		return TrajectoryCancelled, ""
	case t.State != relabel.Done:
		return NotDone, ""
	case t.EndReason.Cut() && (sel.Submitted || sel.ReliesOnVerdicts()):
		return CutByRule, ""
	case sel.Submitted && !is(t.Submitted):
		return NotSubmitted, ""
	case t.SkipVerify && t.Passed == nil && t.Score == nil && sel.ReliesOnVerdicts():
		return NotVerified, ""
	case sel.VerdictProtections > 0 && t.Protections == nil:
		return VerdictOutdated, "no verdict"
	case sel.VerdictProtections > 0 && *t.Protections < sel.VerdictProtections:
		return VerdictOutdated, fmt.Sprintf("version %d", *t.Protections)
	case sel.Resolved && !is(t.Resolved):
		return NotResolved, ""
	case sel.Hit && (t.Hits == nil || *t.Hits == 0):
		return NoHit, ""
	case sel.MinScore != nil && t.Score == nil:
		return ScoreTooLow, "no score"
	case sel.MinScore != nil && *t.Score < *sel.MinScore:
		return ScoreTooLow, fmt.Sprint(*t.Score)
	case sel.MixedRewards && t.Reward() == nil:
		return NoReward, ""
	case sel.MixedRewards && (tr.Group == nil || tr.Group.TooSmall()):
		return GroupTooSmall, ""
	case sel.MixedRewards && !tr.Group.HasMixedRewards():
		return EqualRewards, ""
	case len(sel.EndReasons) > 0 && !slices.Contains(sel.EndReasons, t.EndReason):
		return EndedOtherwise, ""
	}
	return excludeFlagged(tr, 0)
}

// excludeFlagged returns the reason and the flag or mode if turn t, or with t = 0 the whole
// trajectory, has an excluded flag; otherwise "".
func excludeFlagged(tr relabel.ExportTrajectory, t int) (reason Reason, detail string) {
	for _, f := range tr.Flagged {
		if f.T == t {
			return reasonOf(f.Flag)
		}
	}
	return "", ""
}

// reasonOf returns the reason that an excluded flag is, with its detail.
func reasonOf(flag string) (reason Reason, detail string) {
	mode, is := relabel.CutModeFlag(flag)
	switch {
	case flag == relabel.NoModeFlag:
		return NoFailureMode, ""
	case is:
		return HasFailureMode, mode
	}
	return Flagged, flag
}

// excludeAgreement returns why a state is excluded by the agreement filter, or "".
func excludeAgreement(asked relabel.Agreement, turn relabel.Turn) Reason {
	executed := executedByTeacher(turn) || chat.Agree(turn.Action.Message, turn.Label.Message)
	switch {
	case asked == relabel.AgreementDiffers && executed:
		return LabelExecuted
	case asked == relabel.AgreementSame && !executed:
		return LabelNotExecuted
	}
	return ""
}

// executedByTeacher reports whether the executed action is this label itself, not that of
// another teacher.
func executedByTeacher(turn relabel.Turn) bool {
	return turn.Executor == relabel.Teacher && turn.Action.PolicyID == turn.Label.PolicyID
}

// excludeLabel returns why a turn's label is excluded, with a detail, or "".
func excludeLabel(label *relabel.Action) (reason Reason, detail string) {
	switch {
	case label == nil:
		return LabelMissing, "the turn has no label"
	case label.Status == relabel.NotSelected:
		return LabelNotSelected, ""
	case label.Status != relabel.Received:
		return LabelMissing, label.Reason
	case !chat.ValidText(label.Message):
		return LabelNotText, "it contains invalid UTF-8"
	case label.Parse == relabel.ParsedOK:
		return "", ""
	}
	if reason, ok := ofParse[label.Parse]; ok {
		return reason, label.Refusal
	}
	return LabelUnparsed, string(label.Parse)
}

// excludedName is the file that lists the excluded states, one JSON object per line.
const excludedName = "excluded.jsonl"

// excludedLine is a line of excluded.jsonl: an excluded state, or all states of a trajectory.
type excludedLine struct {
	Reason     Reason     `json:"reason"`
	Trajectory relabel.ID `json:"trajectory"`
	InstanceID string     `json:"instance_id"`
	Turn       *int       `json:"turn"`   // null: every turn
	States     int        `json:"states"` // number of labelled states that this line represents
	Detail     string     `json:"detail,omitempty"`
}

// writeExcluded writes lines as JSON, one per line.
func writeExcluded(w io.Writer, excluded []excludedLine) error {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	for _, line := range excluded {
		if err := lines.Encode(line); err != nil {
			return err
		}
	}
	return nil
}
