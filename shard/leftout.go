package shard

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"relabel"
	"relabel/chat"
)

// Reason says why a labelled state is not in a data set.
type Reason string

// The reasons; those of shard/render beside. Those before LabelMissing are of a whole trajectory.
const (
	TrajectoryFailed    Reason = "trajectory_failed"    // not by the agent's doing; the detail says why
	TrajectoryCancelled Reason = "trajectory_cancelled" // with its iteration
	NotDone             Reason = "not_done"             // still under way
	Evaluation          Reason = "evaluation"           // the student alone, without labels
	HeldOut             Reason = "held_out"             // a held-out task never leaves
	NotSubmitted        Reason = "not_submitted"        // asked for: valid submissions only
	NotResolved         Reason = "not_resolved"         // asked for: resolved ones only
	VerdictOutdated     Reason = "verdict_outdated"     // asked for: verdicts of newer protections; or it has none
	LabelMissing        Reason = "label_missing"        // the teacher's action could not be had
	LabelNotText        Reason = "label_not_text"
	LabelCut            Reason = "label_cut_by_length" // it has no end that could be learnt
	LabelRefused        Reason = "label_refused"
	LabelNoCall         Reason = "label_no_call"
	LabelMalformed      Reason = "label_malformed_arguments"
	LabelUnknown        Reason = "label_unknown_tool"
	LabelUnparsed       Reason = "label_unparsed" // nothing says how its calls were understood
	StateTooLarge       Reason = "state_too_large"
	EndedOtherwise      Reason = "ended_otherwise"    // asked for: other end reasons
	LabelExecuted       Reason = "label_executed"     // asked for: only where it was not
	LabelNotExecuted    Reason = "label_not_executed" // asked for: only where it was
	TooLong             Reason = "too_long"           // over max_length
	Flagged             Reason = "flagged"            // asked for: not what reviews flagged so
	EqualRewards        Reason = "equal_rewards"      // asked for: groups with mixed rewards only
	NoReward            Reason = "no_reward"          // the same, and it has no verdict
)

// ofParse is the reason for a label that was not understood as an action.
var ofParse = map[relabel.ParseOutcome]Reason{
	relabel.NoCall: LabelNoCall, relabel.MalformedCall: LabelMalformed, relabel.UnknownTool: LabelUnknown,
	relabel.CutByLength: LabelCut, relabel.Refused: LabelRefused,
}

// leaveTrajectory returns why no state of a trajectory leaves, with a detail, or "".
func leaveTrajectory(sel relabel.ExportSelection, tr relabel.ExportTrajectory) (reason Reason, detail string) {
	is := func(b *bool) bool { return b != nil && *b }
	switch t := tr.Trajectory; {
	case tr.Task.HeldOut:
		return HeldOut, ""
	case t.Kind == relabel.Evaluate || tr.Iteration.Kind == relabel.Evaluate:
		return Evaluation, ""
	case t.State == relabel.Failed:
		return TrajectoryFailed, string(t.Failure)
	case t.State == relabel.Cancelled:
		return TrajectoryCancelled, ""
	case t.State != relabel.Done:
		return NotDone, ""
	case sel.Submitted && !is(t.Submitted):
		return NotSubmitted, ""
	case sel.VerdictProtections > 0 && t.Protections == nil:
		return VerdictOutdated, "no verdict"
	case sel.VerdictProtections > 0 && *t.Protections < sel.VerdictProtections:
		return VerdictOutdated, fmt.Sprintf("version %d", *t.Protections)
	case sel.Resolved && !is(t.Resolved):
		return NotResolved, ""
	case sel.MixedRewards && t.Resolved == nil:
		return NoReward, ""
	case sel.MixedRewards && (tr.Group == nil || !tr.Group.Mixed):
		return EqualRewards, ""
	case len(sel.EndReasons) > 0 && !slices.Contains(sel.EndReasons, t.EndReason):
		return EndedOtherwise, ""
	}
	return leaveFlagged(tr, 0)
}

// leaveFlagged returns why turn t, or (0) the whole trajectory, does not leave by its
// flags, with the first of them, or "".
func leaveFlagged(tr relabel.ExportTrajectory, t int) (reason Reason, flag string) {
	for _, f := range tr.Flagged {
		if f.T == t {
			return Flagged, f.Flag
		}
	}
	return "", ""
}

// leaveAgreement returns why a state does not leave by what was executed in it, or "".
func leaveAgreement(asked relabel.Agreement, turn relabel.Turn) Reason {
	executed := executedByTeacher(turn) || chat.Agree(turn.Action.Message, turn.Label.Message)
	switch {
	case asked == relabel.AgreementDiffers && executed:
		return LabelExecuted
	case asked == relabel.AgreementSame && !executed:
		return LabelNotExecuted
	}
	return ""
}

// executedByTeacher reports whether a teacher's label is what was executed, and not another
// teacher's in its place.
func executedByTeacher(turn relabel.Turn) bool {
	return turn.Executor == relabel.Teacher && turn.Action.PolicyID == turn.Label.PolicyID
}

// leaveLabel returns why a turn's label does not leave, with a detail, or "".
func leaveLabel(label *relabel.Action) (reason Reason, detail string) {
	switch {
	case label == nil:
		return LabelMissing, "there is none"
	case label.Status != relabel.Had:
		return LabelMissing, label.Reason
	case !chat.ValidText(label.Message):
		return LabelNotText, "it holds bytes that are not UTF-8"
	case label.Parse == relabel.ParsedOK:
		return "", ""
	}
	if reason, ok := ofParse[label.Parse]; ok {
		return reason, label.Refusal
	}
	return LabelUnparsed, string(label.Parse)
}

// leftOutName is the file that says what was left out, one JSON object a line.
const leftOutName = "left_out.jsonl"

// leftOutLine says what was left out of one trajectory: a state, or all of them.
type leftOutLine struct {
	Reason     Reason     `json:"reason"`
	Trajectory relabel.ID `json:"trajectory"`
	InstanceID string     `json:"instance_id"`
	Turn       *int       `json:"turn"`   // null: every turn
	States     int        `json:"states"` // how many labelled states this line stands for
	Detail     string     `json:"detail,omitempty"`
}

// writeLeftOut writes lines as JSON, one a line.
func writeLeftOut(w io.Writer, left []leftOutLine) error {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	for _, line := range left {
		if err := lines.Encode(line); err != nil {
			return err
		}
	}
	return nil
}
