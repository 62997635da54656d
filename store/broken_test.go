package store_test

import (
	"bytes"
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
	action := relabel.Action{PolicyID: c.Student.ID, Status: relabel.Had, Raw: raw, Said: []byte("said\x00"), TokenIDs: []int32{1, 2},
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
	if third.Broken == nil {
		t.Error("another attempt's broken engine made it forgotten")
	}
	must(t, s.AdoptTurns(t.Context(), third.Fence, third.Trajectory.Trail))
	must(t, s.EndRollout(t.Context(), third.Fence, relabel.Ending{Reason: relabel.EndSandboxBroken}))
	must(t, s.Release(t.Context(), third.Fence))
	last := storetest.Claim(t, s, c.TrajectoryID, "a fourth")
	if last.Broken != nil || last.Ending == nil || last.Ending.Reason != relabel.EndSandboxBroken {
		t.Errorf("after the end: %+v, %+v", last.Broken, last.Ending)
	}
}
