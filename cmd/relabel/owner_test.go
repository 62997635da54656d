package main

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

func TestAProcessThatHasEndedIsGoneBeforeItsParentAsks(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(bounded(t), "sleep", "1000")
	noError(t, cmd.Start())
	owner := fmt.Sprintf("%s/%d/x", here(), cmd.Process.Pid)
	if isGone(owner) {
		t.Error("it is told gone while it lives")
	}
	noError(t, cmd.Process.Kill())
	eventually(t, "it is gone, though a zombie", func() bool { return isGone(owner) })
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", cmd.Process.Pid)); err != nil {
		t.Errorf("it was no zombie: %v", err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it ended by itself")
	}
	if !isGone(owner) || isGone("elsewhere/1/x") || isGone(newOwner()) {
		t.Error("who is gone is told wrong")
	}
}

func TestAProcessNamedAfterAStateIsNotMistaken(t *testing.T) {
	if hasEnded("7 (a) Z (b) S 1 7") || !hasEnded("7 (a) S (b) Z 1 7") {
		t.Error("the name is read for the state")
	}
}
