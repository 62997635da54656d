package store_test

import (
	"bytes"
	"slices"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

// The action in the course of which a sandbox broke is kept, byte for byte, for the next attempts,
// until its turn is committed or the turns before it are left.
func TestTheActionThatBrokeASandboxIsExecutedAgain(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	c := rolledOut(t, s, 2)
	raw := []byte("{\"role\":\"assistant\",\"content\":\"a\\u0000b \\ud800\",\"tool_calls\":[]}")
	action := relabel.Action{PolicyID: c.Student.ID, Status: relabel.Received, Raw: raw, Said: []byte("said\x00"), TokenIDs: []int32{1, 2},
		Usage: &relabel.Usage{PromptTokens: 7, CompletionTokens: 2}, Parse: relabel.ParsedOK, Millis: 5}
	must(t, s.ReleaseBroken(t.Context(), c.Fence, "the container is gone", 0, &relabel.BrokenTurn{T: 3, Executor: relabel.Student, Action: action}))
	next := storetest.Claim(t, s, c.TrajectoryID, "another")
	b := next.Broken
	if b == nil || b.T != 3 || b.Executor != relabel.Student || !bytes.Equal(b.Action.Raw, raw) || string(b.Action.Said) != "said\x00" ||
		len(b.Action.TokenIDs) != 2 || b.Action.Usage.PromptTokens != 7 || b.Action.Millis != 5 {
		t.Fatalf("the next attempt has %+v", b)
	}
	must(t, s.ReleaseBroken(t.Context(), next.Fence, "the engine is gone", 0, nil))
	third := storetest.Claim(t, s, c.TrajectoryID, "a third")
	if third.Broken == nil || !slices.Equal(third.BrokeAt, []int{3}) {
		t.Errorf("another attempt's broken engine made it forgotten: %v", third.BrokeAt)
	}
	must(t, s.ReleaseBroken(t.Context(), third.Fence, "the container is gone in the replay", 0, &relabel.BrokenTurn{T: 2, Executor: relabel.Student, Action: action}))
	if third = storetest.Claim(t, s, c.TrajectoryID, "one more"); third.Broken == nil || third.Broken.T != 3 || !slices.Equal(third.BrokeAt, []int{3, 2}) {
		t.Errorf("after a break at a turn that is committed: %+v, %v", third.Broken, third.BrokeAt)
	}
	must(t, s.AdoptTurns(t.Context(), third.Fence, third.Trajectory.Trail))
	must(t, s.EndRollout(t.Context(), third.Fence, relabel.Ending{Reason: relabel.EndSandboxBroken}))
	must(t, s.Release(t.Context(), third.Fence))
	last := storetest.Claim(t, s, c.TrajectoryID, "a fourth")
	if last.Broken != nil || last.Ending == nil || last.Ending.Reason != relabel.EndSandboxBroken {
		t.Errorf("after the end: %+v, %+v", last.Broken, last.Ending)
	}
}
